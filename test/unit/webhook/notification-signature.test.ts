import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { isNotificationSecret, notificationHeaders, verifyNotification } from '../../../src/webhook/index.js';

/** The test vector of the standard's own libraries. */
const vector = {
  secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
  timestamp: 1614265330,
  rawBody: '{"test": 2432232314}',
  signature: 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
};
const other = `whsec_${Buffer.from('o'.repeat(32)).toString('base64')}`;
const nowMs = vector.timestamp * 1_000;
const signed = (secrets: readonly string[] = [vector.secret]) => notificationHeaders({ ...vector, secrets });
const verify = (over: Partial<Parameters<typeof verifyNotification>[0]> = {}) =>
  verifyNotification({ headers: signed(), rawBody: vector.rawBody, secrets: [vector.secret], nowMs, ...over });

describe('a notification', () => {
  it('is signed according to Standard Webhooks', () => {
    expect(signed()).toEqual({
      'webhook-id': vector.id,
      'webhook-timestamp': '1614265330',
      'webhook-signature': vector.signature,
    });
    expect(verify()).toEqual({ ok: true, id: vector.id, timestamp: vector.timestamp });
  });

  it('is signed by every secret during a rotation, and either one verifies it', () => {
    const headers = signed([other, vector.secret]);
    expect(headers['webhook-signature']?.split(' ')).toHaveLength(2);
    for (const secret of [other, vector.secret])
      expect(verify({ headers, secrets: [secret] })).toMatchObject({ ok: true });
    expect(verify({ secrets: [other, vector.secret] })).toMatchObject({ ok: true });
    expect(verify({ secrets: [other] })).toEqual({ ok: false, reason: 'bad_signature' });
    expect(verify({ secrets: [] })).toEqual({ ok: false, reason: 'bad_signature' });
  });

  it.each([
    ['another body', { rawBody: '{"test": 1}' }, 'bad_signature'],
    ['another id', { headers: { ...signed(), 'webhook-id': 'msg_other' } }, 'bad_signature'],
    ['another time', { headers: { ...signed(), 'webhook-timestamp': '1614265331' } }, 'bad_signature'],
    ['no signature', { headers: { ...signed(), 'webhook-signature': undefined } }, 'missing_headers'],
    ['no id', { headers: { ...signed(), 'webhook-id': '' } }, 'missing_headers'],
    ['no time', { headers: { ...signed(), 'webhook-timestamp': undefined } }, 'missing_headers'],
    ['a header that is there twice', { headers: { ...signed(), 'webhook-id': ['a', 'b'] } }, 'malformed_headers'],
    ['two times', { headers: { ...signed(), 'webhook-timestamp': '1614265330, 1614265331' } }, 'malformed_headers'],
    [
      'another version only',
      { headers: { ...signed(), 'webhook-signature': `v1a,${'A'.repeat(43)}=` } },
      'malformed_headers',
    ],
    [
      'half a signature',
      { headers: { ...signed(), 'webhook-signature': vector.signature.slice(0, 20) } },
      'malformed_headers',
    ],
    ['a time that is not a number', { headers: { ...signed(), 'webhook-timestamp': '1e9' } }, 'malformed_headers'],
    ['one that is a little too old', { nowMs: nowMs + 300_001 }, 'stale_timestamp'],
    ['one that is too old', { nowMs: nowMs + 301_000 }, 'stale_timestamp'],
    ['one from the future', { nowMs: nowMs - 301_000 }, 'stale_timestamp'],
    ['any, if the tolerance is not a number', { toleranceSeconds: Number('soon') }, 'stale_timestamp'],
    ['any, if the current time is not a number', { nowMs: Number.NaN }, 'stale_timestamp'],
  ] as const)('is refused: %s', (_, over, reason) => {
    expect(verify(over as Parameters<typeof verify>[0])).toEqual({ ok: false, reason });
  });

  it('is accepted if a proxy doubles its headers', () => {
    const doubled = Object.entries(signed()).map(([name, value]) => [name, `${value}, ${value}`]);
    expect(verify({ headers: Object.fromEntries(doubled) })).toMatchObject({ ok: true, id: vector.id });
  });

  it('is signed byte for byte, also if the body is not text', () => {
    const [body, otherBody] = [Buffer.from([0xff]), new Uint8Array([0xfe])];
    const headers = notificationHeaders({ ...vector, secrets: [vector.secret], rawBody: body });
    expect(verify({ headers, rawBody: new Uint8Array(body) })).toMatchObject({ ok: true });
    expect(verify({ headers, rawBody: otherBody })).toEqual({ ok: false, reason: 'bad_signature' });
  });

  it('is accepted until its time differs by 300 seconds', () => {
    for (const differenceMs of [300_000, -300_000])
      expect(verify({ nowMs: nowMs + differenceMs })).toMatchObject({ ok: true });
  });

  it('has no signature without a secret', () => {
    expect(signed([])).not.toHaveProperty('webhook-signature');
  });

  it('is signed with a key of 24 to 64 bytes', () => {
    const secretOf = (bytes: number) => `whsec_${Buffer.alloc(bytes, 7).toString('base64')}`;
    expect([23, 24, 64, 65].map(secretOf).map(isNotificationSecret)).toEqual([false, true, true, false]);
    const good = secretOf(32);
    expect([good, `${good}!`, good.replace('whsec_', 'whsec_!')].map(isNotificationSecret)).toEqual([
      true,
      false,
      false,
    ]);
  });

  it('is not signed with an invalid secret, which is not shown', () => {
    for (const secret of ['', 'whsec_', 'whsec_c2hvcnQ=', 'plain-words-of-somebody', vector.secret.slice(6)]) {
      const refusal = /^A notification secret must be "whsec_" followed by the base64 of 24 to 64 bytes.$/;
      expect(() => signed([secret])).toThrow(refusal);
      expect(() => verify({ secrets: [secret] })).toThrow(refusal);
    }
  });

  it('is signed with the key of a secret and not its text', () => {
    const key = Buffer.from(vector.secret.slice(6), 'base64');
    const digest = createHmac('sha256', key)
      .update(`${vector.id}.${vector.timestamp}.${vector.rawBody}`)
      .digest('base64');
    expect(signed()['webhook-signature']).toBe(`v1,${digest}`);
  });
});

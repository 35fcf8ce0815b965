import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { deliveryHeadersFor, sign, verifyDelivery } from '../../../src/webhook/index.js';

const secret = 'whsec_first';
const deliveryId = `evt_${'0123456789abcdef'.repeat(2)}`;
const timestamp = 1_800_000_000;
const nowMs = timestamp * 1000;
const rawBody = Buffer.from('{"id":"ü"}');

const signed = deliveryHeadersFor({ secret, deliveryId, timestamp, rawBody, event: 'sandbox.ready', attempt: 3 });
const verifiedHeader = (name: string) => (signed as Record<string, string>)[name] ?? '';

function verify(
  changes: Partial<Parameters<typeof verifyDelivery>[0]> = {},
  headers: Record<string, string | string[]> = {},
) {
  return verifyDelivery({ headers: { ...signed, ...headers }, rawBody, secrets: [secret], nowMs, ...changes });
}

const flipped = (text: string, index: number, bit: number) => {
  const bytes = Buffer.from(text, 'latin1');
  bytes[index % bytes.length] = (bytes[index % bytes.length] ?? 0) ^ (1 << (bit % 8));
  return bytes.toString('latin1');
};

describe('sign', () => {
  it('is v1= and the hex HMAC-SHA256 over id, dot, timestamp, dot, body', () => {
    // Made with: printf 'evt_1.1700000000.{}' | openssl dgst -sha256 -hmac whsec_test
    const expected = 'v1=a623eb010ac539bcd2ae47bec5c5427e215959cb463dd7232da9d2cd9bcd8b15';
    expect(sign({ secret: 'whsec_test', deliveryId: 'evt_1', timestamp: 1_700_000_000, rawBody: '{}' })).toBe(expected);
  });
});

describe('a signed delivery', () => {
  it('says that its body is JSON', () => {
    expect(signed).toMatchObject({ 'content-type': 'application/json' });
  });
});

describe('verifyDelivery', () => {
  it('accepts a signed delivery and returns id, time, attempt and secret', () => {
    expect(verify()).toEqual({ ok: true, deliveryId, timestamp, attempt: 3, secretIndex: 0 });
  });

  /** The headers of a delivery in another family. */
  const renamed = (prefix: string) =>
    Object.fromEntries(Object.entries(signed).map(([name, value]) => [name.replace('x-svc-', prefix), value]));

  it.each(['x-box-', 'x-', 'acme-hooks-'])('accepts headers of another family, and names it: %s', (headerPrefix) => {
    const of = { rawBody, secrets: [secret], nowMs, headers: renamed(headerPrefix) };
    expect(verifyDelivery(of)).toEqual({ ok: true, deliveryId, timestamp, attempt: 3, secretIndex: 0, headerPrefix });
    expect(verifyDelivery({ ...of, secrets: ['other'] })).toEqual({ ok: false, reason: 'bad_signature' });
    expect(verifyDelivery({ ...of, nowMs: nowMs + 400_000 })).toMatchObject({ ok: false, reason: 'stale_timestamp' });
  });

  it('accepts a delivery to which a relay has added its own signature, wherever it is', () => {
    const relay = {
      'x-relay-delivery': 'r_1',
      'x-relay-timestamp': String(timestamp),
      'x-relay-signature': `v1=${'0'.repeat(64)}`,
    };
    const own = renamed('x-box-');
    for (const headers of [
      { ...relay, ...own },
      { ...own, ...relay },
    ]) {
      expect(verifyDelivery({ rawBody, secrets: [secret], nowMs, headers })).toMatchObject({ headerPrefix: 'x-box-' });
    }
    expect(verifyDelivery({ rawBody, secrets: [secret], nowMs, headers: relay })).toEqual({
      ok: false,
      reason: 'bad_signature',
    });
  });

  it('takes a family as a whole: its own headers win, and a part of another is none', () => {
    const headers = { ...renamed('x-box-'), 'x-box-signature': 'v1=0' };
    expect(verify({}, headers)).toMatchObject({ ok: true, deliveryId });
    const { 'x-box-delivery': _, ...part } = renamed('x-box-');
    expect(verifyDelivery({ rawBody, secrets: [secret], nowMs, headers: part })).toEqual({
      ok: false,
      reason: 'missing_headers',
    });
  });

  it('S10: accepts any of several secrets, so that an attempt in progress survives a rotation', () => {
    expect(verify({ secrets: ['whsec_new', secret] })).toMatchObject({ ok: true, secretIndex: 1 });
    expect(verify({ secrets: ['whsec_new', 'whsec_other'] })).toEqual({ ok: false, reason: 'bad_signature' });
    expect(verify({ secrets: [] })).toEqual({ ok: false, reason: 'bad_signature' });
  });

  it('never accepts a signature with the empty secret', () => {
    const headers = deliveryHeadersFor({ secret: '', deliveryId, timestamp, rawBody, event: 'sandbox.ready' });
    expect(verify({ secrets: ['', secret] }, headers)).toEqual({ ok: false, reason: 'bad_signature' });
  });

  it('S10: accepts a difference of 300 seconds either way and no more', () => {
    expect(verify({ nowMs: nowMs + 300_000 })).toMatchObject({ ok: true });
    expect(verify({ nowMs: nowMs - 300_000 })).toMatchObject({ ok: true });
    const stale = (skewSeconds: number) => ({ ok: false, reason: 'stale_timestamp', skewSeconds });
    expect(verify({ nowMs: nowMs + 301_000 })).toEqual(stale(301));
    expect(verify({ nowMs: nowMs - 301_000 })).toEqual(stale(-301));
    expect(verify({ nowMs: nowMs + 300_001 })).toMatchObject({ reason: 'stale_timestamp' });
    expect(verify({ nowMs: Number.NaN })).toEqual(stale(Number.NaN));
    expect(verify({ toleranceSeconds: Number.NaN })).toEqual(stale(0));
    expect(verify({ nowMs: nowMs + 11_000, toleranceSeconds: 10 })).toEqual(stale(11));
  });

  it.each(['x-svc-delivery', 'x-svc-timestamp', 'x-svc-signature'])('refuses a delivery without %s', (name) => {
    expect(verify({}, { [name]: '' })).toEqual({ ok: false, reason: 'missing_headers' });
  });

  it.each([
    ['x-svc-signature', 'v2=00'],
    ['x-svc-signature', `V1=${'0'.repeat(64)}`],
    ['x-svc-signature', `v1=${'0'.repeat(63)}`],
    ['x-svc-timestamp', '17e8'],
    ['x-svc-timestamp', '-1'],
  ])('refuses a malformed %s: %s', (name, value) => {
    expect(verify({}, { [name]: value })).toEqual({ ok: false, reason: 'malformed_headers' });
  });

  it.each(['x-svc-delivery', 'x-svc-timestamp', 'x-svc-signature'])(
    'counts an equal %s once, and refuses another',
    (name) => {
      const value = verifiedHeader(name);
      // Node joins them; other servers list them.
      for (const equal of [`${value}, ${value}`, `${value}, ${value}, ${value}`, [value, value], [value]])
        expect(verify({}, { [name]: equal })).toMatchObject({ ok: true, deliveryId });
      for (const differing of [`${value}, 1`, `1, ${value}`, [value, '1'], `${value}, `, `${value},${value}`])
        expect(verify({}, { [name]: differing })).toMatchObject({ ok: false });
    },
  );

  it.each(['many', '1x', 'x1', '1234567', '-1', ['3', '4'], '3, 4'])(
    'does not need the attempt number, which is not signed: %j counts as 0',
    (attempt) => {
      expect(verify({}, { 'x-svc-attempt': attempt })).toMatchObject({ ok: true, attempt: 0 });
    },
  );

  it('reads attempt numbers of several digits', () => {
    expect(verify({}, { 'x-svc-attempt': '123456' })).toMatchObject({ ok: true, attempt: 123_456 });
  });

  it('names the first of equal secrets', () => {
    expect(verify({ secrets: ['whsec_new', secret, secret] })).toMatchObject({ ok: true, secretIndex: 1 });
  });

  it('S10: refuses every change of a single bit in body, id, timestamp or signature', () => {
    const parts = fc.record({
      body: fc.uint8Array({ minLength: 1, maxLength: 300 }),
      key: fc.string({ minLength: 1 }),
      index: fc.nat(),
      bit: fc.nat(7),
    });
    fc.assert(
      fc.property(parts, ({ body, key, index, bit }) => {
        const raw = Buffer.from(body);
        const headers = deliveryHeadersFor({ secret: key, deliveryId, timestamp, rawBody: raw, event: 'e' });
        const accepted = (changed: Record<string, string>, bytes = raw) =>
          verifyDelivery({
            headers: { ...headers, ...changed },
            rawBody: bytes,
            secrets: [key],
            nowMs,
            toleranceSeconds: Number.POSITIVE_INFINITY,
          }).ok;
        expect(accepted({})).toBe(true);
        expect(accepted({}, Buffer.from(flipped(raw.toString('latin1'), index, bit), 'latin1'))).toBe(false);
        for (const name of ['x-svc-delivery', 'x-svc-timestamp'] as const) {
          expect(accepted({ [name]: flipped(headers[name] ?? '', index, bit) })).toBe(false);
        }
        // Hex digits may change their case, nothing else.
        const signature = flipped(headers['x-svc-signature'] ?? '', index, bit);
        const sameDigits = signature.toLowerCase() === headers['x-svc-signature'];
        expect(accepted({ 'x-svc-signature': signature })).toBe(sameDigits && signature.startsWith('v1='));
      }),
      { examples: [[{ body: Uint8Array.of(0), key: 'k', index: 0, bit: 5 }]] },
    );
  });

  it('S10: does not accept bytes of the body as part of id or timestamp', () => {
    const moved = { ...deliveryHeadersFor({ secret, deliveryId: 'a', timestamp, rawBody: '.b', event: 'e' }) };
    expect(verify({ rawBody: Buffer.from('b') }, { ...moved, 'x-svc-timestamp': `${timestamp}.` })).toMatchObject({
      ok: false,
    });
  });
});

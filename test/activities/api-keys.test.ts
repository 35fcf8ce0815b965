import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { errorBody, sendJson } from '../unit/client/http-harness.js';
import { type ActivityStand, createActivityStand, leastSeenMs } from './activity-harness.js';

let stand: ActivityStand;
beforeAll(async () => {
  stand = await createActivityStand();
});
afterAll(() => stand.close());

interface Refusals {
  readonly rotate?: boolean;
  readonly revoke?: boolean;
}
interface Kept {
  readonly value: { readonly apiKey: { readonly id: string }; readonly secretRef: string };
}

/** A service that stores keys, loses the answer to the first create, and refuses configured calls. */
function keyService(refused: Refusals = {}, loses: 'after' | 'before' = 'after') {
  // A key of the same name already exists, and one foreign row is unreadable.
  const keys: object[] = [{ id: 'sak_before', name: 'ci' }, { id: 7 }];
  let creates = 0;
  stand.answer(({ method, url, body }, response) => {
    const forbidden = () => sendJson(response, 403, errorBody(403, 'forbidden'));
    if (method === 'GET') return sendJson(response, 200, { ok: true, apiKeys: keys });
    if (url.endsWith('/rotate')) {
      return refused.rotate
        ? forbidden()
        : sendJson(response, 200, { ok: true, apiKey: keys.at(-1), secret: 'key_rotated' });
    }
    if (method === 'DELETE') {
      if (refused.revoke) return forbidden();
      keys.pop();
      return sendJson(response, 200, { ok: true });
    }
    creates += 1;
    const apiKey = { ...JSON.parse(body), id: `sak_${creates}` };
    if (creates > 1 || loses === 'after') keys.push(apiKey);
    if (creates === 1) return response.destroy();
    return sendJson(response, 201, { ok: true, apiKey, secret: 'key_second' });
  });
  return keys;
}
const creates = () => stand.seen().filter((line) => line === 'POST /v1/api-keys/scoped');

describe('a scoped key when the answer is lost', () => {
  it('is found by its name and gets a new secret', async () => {
    const keys = keyService();
    const { value } = (await stand.run('createApiKey', { name: 'ci' })) as Kept;
    expect(value.apiKey.id).toBe('sak_1');
    expect(await stand.secrets.get(value.secretRef)).toBe('key_rotated');
    expect([keys.length, creates().length]).toEqual([3, 1]);
    expect(await stand.history()).not.toContain('key_rotated');
  });

  it('is rotated again only when the rotation of a worker that died can no longer take effect', async () => {
    const keys: object[] = [];
    const rotatedAtMs: number[] = [];
    stand.answer(async ({ method, url, body }, response) => {
      if (method === 'GET') return sendJson(response, 200, { ok: true, apiKeys: keys });
      if (url.endsWith('/rotate')) {
        rotatedAtMs.push(Date.now());
        if (rotatedAtMs.length === 1) await stand.loseAttempt();
        return sendJson(response, 200, { ok: true, apiKey: keys[0], secret: `key_${rotatedAtMs.length}` });
      }
      keys.push({ ...JSON.parse(body), id: 'sak_made' });
      return response.destroy();
    });
    const { value } = (await stand.run('createApiKey', { name: 'ci' })) as Kept;
    expect(await stand.secrets.get(value.secretRef)).toBe('key_2');
    const [first = 0, second = 0] = rotatedAtMs;
    expect(second - first).toBeGreaterThanOrEqual(leastSeenMs);
    expect(creates()).toHaveLength(1);
  });

  it('is revoked and created again if it may not be rotated', async () => {
    const keys = keyService({ rotate: true });
    const { value } = (await stand.run('createApiKey', { name: 'ci' })) as Kept;
    expect(value.apiKey.id).toBe('sak_2');
    expect(await stand.secrets.get(value.secretRef)).toBe('key_second');
    expect([keys.length, creates().length]).toEqual([3, 2]);
  });

  it('is named in the error if it may be neither rotated nor revoked', async () => {
    keyService({ rotate: true, revoke: true });
    const failure = await stand.failureOf('createApiKey', { name: 'ci' });
    expect(failure).toMatchObject({ type: 'outcome_unknown', nonRetryable: true });
    expect(failure.message).toContain('sak_1');
    expect(creates()).toHaveLength(1);
  });

  it('is not created again if it does not appear in the list', async () => {
    keyService({}, 'before');
    expect(await stand.failureOf('createApiKey', { name: 'ci' })).toMatchObject({ type: 'outcome_unknown' });
    expect(creates()).toHaveLength(1);
  });
});

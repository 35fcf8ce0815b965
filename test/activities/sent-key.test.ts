import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { storedJson } from '../../src/result-store/stored-json.js';
import { aSandbox, errorBody, sendJson } from '../unit/client/http-harness.js';
import { type ActivityStand, createActivityStand } from './activity-harness.js';

let stand: ActivityStand;
beforeAll(async () => {
  stand = await createActivityStand();
});
afterAll(() => stand.close());

const hourMs = 3_600_000;
const posts = () => stand.seen().filter((line) => line.startsWith('POST'));

function fork(record: string, over: object = {}) {
  const body = { name: 'sf-item', ttlSeconds: 600 };
  const call = { sandboxId: 'bx_22222222', body, idempotencyKey: 'k', firstSentAtMs: Date.now(), lookFirst: true };
  return { ...call, record, ...over };
}

/** An omitted sandbox is found only by its key (trap S13). */
function answer(options: { readonly refusal?: { readonly status: number; readonly code: string } } = {}) {
  const bodies: unknown[] = [];
  const { refusal } = options;
  stand.answer(({ method, body }, response) => {
    if (method === 'GET') return sendJson(response, 200, { ok: true, sandboxes: [] });
    bodies.push(JSON.parse(body));
    if (refusal) return sendJson(response, refusal.status, errorBody(refusal.status, refusal.code));
    const made = { ...aSandbox, name: 'sf-item', access: 'owner', createdAt: new Date().toISOString() };
    return sendJson(response, 202, { ok: true, sandbox: made });
  });
  return bodies;
}

const recordOf = async (key: string) =>
  JSON.parse((await stand.results.get(`file-store:${key}`)).toString('utf8')) as object;

/** The record of a run that worked on the item this long ago. */
async function leave(key: string, hours: number, body: object) {
  const record = { state: 'sent', firstSentAtMs: Date.now() - hours * hourMs, by: 'an earlier run', body };
  await stand.results.put(key, storedJson(record));
}

describe('the key of an item that an earlier run sent', () => {
  it('returns the fork as found, even if the list omits it', async () => {
    answer();
    expect(await stand.run('forkSandbox', fork('a/keys/1.json'))).not.toMatchObject({ value: { found: true } });
    expect(await stand.run('forkSandbox', fork('a/keys/1.json'))).toMatchObject({ value: { found: true } });
  });

  it('is not sent again after a day, even if the list omits the fork', async () => {
    answer();
    await leave('b/keys/1.json', 25, { name: 'sf-item' });
    const failure = await stand.failureOf('forkSandbox', fork('b/keys/1.json'));
    expect(failure).toMatchObject({ type: 'outcome_unknown', nonRetryable: true });
    expect(posts()).toEqual([]);
  });

  it('is sent with its original body, even if the batch has changed since', async () => {
    const bodies = answer();
    const first = { name: 'sf-item', ttlSeconds: 600, type: 'large' };
    await leave('c/keys/1.json', 2, first);
    const later = { name: 'sf-item', ttlSeconds: 7_200, type: 'small' };
    expect(await stand.run('forkSandbox', fork('c/keys/1.json', { body: later }))).toMatchObject({
      value: { found: true },
    });
    expect(bodies).toEqual([first]);
  });
});

describe('the key of an item that the service only refused', () => {
  it('counts as unsent, regardless of its age', async () => {
    answer({ refusal: { status: 429, code: 'limit_reached' } });
    const dayAgo = { firstSentAtMs: Date.now() - 30 * hourMs, lookFirst: false };
    expect(await stand.failureOf('forkSandbox', fork('d/keys/1.json', dayAgo))).toMatchObject({
      type: 'limit_reached',
    });
    expect(await recordOf('d/keys/1.json')).toMatchObject({ state: 'not_sent' });
    const bodies = answer();
    const body = { name: 'sf-item', ttlSeconds: 7_200 };
    const made = await stand.run('forkSandbox', fork('d/keys/1.json', { ...dayAgo, body }));
    expect(made).not.toMatchObject({ value: { found: true } });
    expect(bodies).toEqual([body]);
  });

  it('counts as sent if an earlier call with it may have taken effect', async () => {
    answer({ refusal: { status: 429, code: 'limit_reached' } });
    await leave('e/keys/1.json', 2, { name: 'sf-item' });
    await stand.failureOf('forkSandbox', fork('e/keys/1.json'));
    expect(await recordOf('e/keys/1.json')).toMatchObject({ state: 'sent' });
  });
});

/** A connection on which no file arrives within the client's own deadline. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ActivityStand, createActivityStand } from '../../activities/activity-harness.js';
import { sendJson } from '../../unit/client/http-harness.js';

const clientMs = 200;
let stand: ActivityStand;
beforeAll(async () => {
  stand = await createActivityStand({ client: { timeoutMs: clientMs } });
});
afterAll(() => stand.close());

/**
 * The first three answers are late, so a call that keeps restarting gets the fourth. The client gives up first on a busy
 * machine too: its timer ends before that of the answer, in the same process.
 */
function answerLate(body: object): void {
  let asked = 0;
  stand.answer((_, response) => {
    asked += 1;
    setTimeout(() => sendJson(response, 200, { ok: true, ...body }), asked <= 3 ? 3 * clientMs : 0);
  });
}

const path = '/big';
const file = { path, size: 2, encoding: 'utf8', content: 'hi' };

it('writing a file has a timeout that fits its size from the first attempt', async () => {
  answerLate({ path, size: 1_000_000 });
  const { ref } = await stand.results.put('inputs/big', Buffer.alloc(1_000_000));
  expect(await stand.run('putFile', 'bx_22222222', { path, content: { ref } })).toMatchObject({ calls: 1 });
});

it.each([
  ['collectFile', [{ sandboxId: 'bx_22222222', path, key: 'kept/big' }]],
  ['fingerprintFile', ['bx_22222222', path]],
  ['readFile', ['bx_22222222', { path, key: 'kept/big' }]],
] as const)('reading a file has a longer timeout at the second attempt: %s', async (name, args) => {
  answerLate(file);
  expect(await stand.run(name, ...args)).toMatchObject({ calls: 2 });
});

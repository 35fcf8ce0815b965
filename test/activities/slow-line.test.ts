/** A line on which no file arrives within the client's own deadline. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { sendJson } from '../client/http-harness.js';
import { type ActivityStand, createActivityStand } from './activity-harness.js';

const clientMs = 200;
let stand: ActivityStand;
beforeAll(async () => {
  stand = await createActivityStand({ client: { timeoutMs: clientMs } });
});
afterAll(() => stand.close());

/** The first three answers come late; what is begun again and again has the fourth. */
function answerLate(body: object): void {
  let asked = 0;
  stand.answer((_, response) => {
    asked += 1;
    setTimeout(() => sendJson(response, 200, { ok: true, ...body }), asked <= 3 ? 3 * clientMs : 0);
  });
}

const path = '/big';
const file = { path, size: 2, encoding: 'utf8', content: 'hi' };

it('B7: a file that is sent has the time that its size takes, at its first try', async () => {
  answerLate({ path, size: 1_000_000 });
  const { ref } = await stand.results.put('inputs/big', Buffer.alloc(1_000_000));
  expect(await stand.run('putFile', 'bx_22222222', { path, content: { ref } })).toMatchObject({ calls: 1 });
});

it.each([
  ['collectFile', [{ sandboxId: 'bx_22222222', path, key: 'kept/big' }]],
  ['fingerprintFile', ['bx_22222222', path]],
  ['readFile', ['bx_22222222', { path, key: 'kept/big' }]],
] as const)('B7: a file of any size that is read has more time at its second try: %s', async (name, args) => {
  answerLate(file);
  expect(await stand.run(name, ...args)).toMatchObject({ calls: 2 });
});

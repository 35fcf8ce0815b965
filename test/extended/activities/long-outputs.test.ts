import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ActivityStand, createActivityStand } from '../../activities/activity-harness.js';
import { sendJson } from '../../unit/client/http-harness.js';

let stand: ActivityStand;
beforeAll(async () => {
  stand = await createActivityStand();
});
afterAll(() => stand.close());

it.each([true, false])('a command with more output than a workflow can take (idempotent: %s)', async (idempotent) => {
  stand.answer((_, response) => {
    const said = { exitCode: 0, stdout: 'x'.repeat(3_000_000), stderr: '', durationMs: 1, timedOut: false };
    sendJson(response, 200, { ok: true, type: 'command.result', commandId: 'cmd_1', ...said });
  });
  const input = { sandboxId: 'bx_22222222', body: { command: 'yes' }, idempotent };
  expect(await stand.failureOf('runCommand', input)).toMatchObject({ type: 'answer_too_large', nonRetryable: true });
  expect(await stand.run('runCommand', { ...input, keepTail: 10 })).toMatchObject({
    value: { stdout: 'x'.repeat(10) },
  });
});

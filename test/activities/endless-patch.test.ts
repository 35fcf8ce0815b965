import { afterAll, beforeAll, expect, it } from 'vitest';
import { patchPieceBytes } from '../../activities/sandbox/diff-script.js';
import { sendJson } from '../unit/client/http-harness.js';
import { type ActivityStand, createActivityStand } from './activity-harness.js';

let stand: ActivityStand;
beforeAll(async () => {
  stand = await createActivityStand();
});
afterAll(() => stand.close());

it('a worker does not read a patch without end, from a sandbox that has replaced the programs of the script', async () => {
  const piece = Buffer.alloc(patchPieceBytes, 'x').toString('base64');
  const head = `size ${10 ** 12 - 1}\nid ${'a'.repeat(40)}\nsubmodules 0\n`;
  // A worker that goes on would take memory for as long as it gets pieces.
  const morePieces = 64;
  stand.answer(({ body }, response) => {
    const isHead = body.includes('sandflow_root=');
    const stdout = `sandflow-diff patch\n${isHead ? head : ''}content\n${isHead ? '' : piece}\nend\n`;
    const said = { exitCode: 0, stdout, stderr: '', durationMs: 1, timedOut: stand.seen().length > morePieces };
    sendJson(response, 200, { ok: true, type: 'command.result', commandId: 'cmd_1', ...said });
  });
  const input = { sandboxId: 'bx_22222222', owner: 'job-endless', repository: '/app', base: null, key: 'patch' };
  expect(await stand.run('collectDiff', input)).toMatchObject({
    value: { ref: null, error: expect.stringContaining('more than 32 MiB'), diff: { outcome: 'too_large' } },
  });
  expect(stand.seen()).toHaveLength(1);
});

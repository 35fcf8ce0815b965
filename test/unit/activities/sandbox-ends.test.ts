import { expect, it } from 'vitest';
import { endsIn } from '../../../activities/cleanup/sandbox-ends.js';
import { endedKey, type SandboxEnding } from '../../../src/protocol/ended-sandbox.js';
import { lastEnd } from '../../../src/retention/index.js';

const closed = (workflowId: string, end: SandboxEnding, endedAtMs: number, closedAtMs: number) =>
  endsIn({
    workflowId,
    closeTime: new Date(closedAtMs),
    memo: { outcome: 'completed', [endedKey('bx_a')]: { name: null, end, endedAtMs } },
  });

it('the job that ended a sandbox last decides, even if an earlier one closed later', () => {
  const ends = [...closed('keeps', 'kept', 2_000, 3_000), ...closed('stops', 'stopped', 1_000, 9_000)];
  expect(lastEnd(ends)).toMatchObject({ workflowId: 'keeps', atMs: 2_000 });
  expect(lastEnd(ends.toReversed())).toMatchObject({ workflowId: 'keeps', atMs: 2_000 });
});

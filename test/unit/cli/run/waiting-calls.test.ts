import type { WorkflowExecutionDescription } from '@temporalio/client';
import { describe, expect, it } from 'vitest';
import { parseOwnedSandboxName } from '../../../../src/addresses/addresses.js';
import { waitingCalls, waitingText } from '../../../../src/cli/run/waiting-calls.js';

const job = { deployment: 'd', jobId: 'nightly' };
const firstRunId = '0192f1c2-aaaa-7bbb-8ccc-0123456789ab';

function described(activities: readonly object[]): Pick<WorkflowExecutionDescription, 'raw'> {
  const raw = { workflowExecutionInfo: { firstRunId }, pendingActivities: activities };
  return { raw } as unknown as Pick<WorkflowExecutionDescription, 'raw'>;
}
const create = {
  activityType: { name: 'createSandbox' },
  attempt: 4,
  state: 1,
  scheduledTime: { seconds: 1_760_000_000 },
  lastFailure: { message: 'No complete response of the service within 30000 ms.' },
};

describe('the display of what a job waits for', () => {
  it('names a sandbox that an unanswered create may have created', () => {
    const [call, ...others] = waitingCalls(described([create]), job, { sandboxId: null });
    expect(others).toEqual([]);
    expect(call).toMatchObject({ call: 'createSandbox', attempt: 4, nextAt: '2025-10-09T08:53:20.000Z' });
    const name = call?.maybeMade?.replace('*', '1') ?? '';
    expect(parseOwnedSandboxName(name)).toMatchObject({ ...job, execution: expect.any(String), step: 'main' });
    expect(call && waitingText(call)).toBe(
      `createSandbox has not succeeded yet and is repeated; last attempt: No complete response of the service within 30000 ms.\n  A sandbox may already exist: sandflow sandboxes --name "${call?.maybeMade}"`,
    );
  });

  it('claims no response of a call that was not sent, and no next attempt while one runs', () => {
    const message = 'No connection to the service (ECONNREFUSED). The call was not sent.';
    const unsent = { ...create, activityType: { name: 'getSandbox' }, lastFailure: { message } };
    const [paused] = waitingCalls(described([unsent]), job, { sandboxId: null });
    expect(paused && waitingText(paused)).toBe(
      `getSandbox has not succeeded yet and is repeated; last attempt: ${message}`,
    );
    const [runs] = waitingCalls(described([{ ...unsent, state: 2, attempt: 5 }]), job, { sandboxId: null });
    expect(runs).toMatchObject({ nextAt: null, attempt: 5 });
    expect(runs && waitingText(runs)).toBe(paused && waitingText(paused));
  });

  it('shows nothing for the first attempt of a call, and names no known sandbox', () => {
    const first = { ...create, attempt: 1, lastFailure: null };
    expect(waitingCalls(described([first]), job, { sandboxId: null })).toEqual([]);
    const stop = { ...create, activityType: { name: 'stopSandbox' } };
    expect(waitingCalls(described([stop]), job, { sandboxId: 'bx_2345abcd' })).toMatchObject([{ maybeMade: null }]);
  });
});

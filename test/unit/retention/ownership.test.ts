/** Who owns a sandbox, and whom Temporal must be asked about. */
import { describe, expect, test } from 'vitest';
import { executionOf, ownedSandboxName } from '../../../src/contract/workflow-safe/addresses.js';
import { type OwnerSeen, ownershipOf, ownerToAsk } from '../../../src/retention/ownership.js';

const runId = '0197-7000-8000-3030303030aa';
const execution = executionOf(runId);
const of = (deployment: string, step = 'main') =>
  ownedSandboxName({ deployment, jobId: 'a', execution, step, generation: 1 });

describe('Temporal is asked', () => {
  test('about the job that the name refers to', () => {
    expect(ownerToAsk(of('mine'), 'mine')).toEqual({ workflowId: 'sf-mine-a', execution, itemWorkflowId: undefined });
  });

  test.each([
    ['of a sandbox without a name', null],
    ['of a name that no job gave', 'golden'],
    ['of a job of another deployment', of('theirs')],
  ])('nothing, %s', (_, name) => {
    expect(ownerToAsk(name, 'mine')).toBeUndefined();
  });
});

describe('the owner', () => {
  const closed = (...closedFirstRunIds: string[]): OwnerSeen => ({ isOpen: false, closedFirstRunIds });
  test.each<[string, string | null, OwnerSeen | undefined, string]>([
    ['of a sandbox without a name', null, undefined, 'unknown'],
    ['of a name that no job gave', 'golden', undefined, 'none'],
    ['of another deployment', of('theirs'), undefined, 'other-deployment'],
    ['that Temporal does not know', of('mine'), undefined, 'unknown'],
    ['that runs', of('mine'), { isOpen: true, closedFirstRunIds: [runId] }, 'open'],
    ['that has ended', of('mine'), closed(runId), 'closed'],
    ['that has ended, among other executions', of('mine'), closed('other', runId), 'closed'],
    ['of which only other executions are known', of('mine'), closed('other'), 'unknown'],
    ['that kept it', of('mine'), { ...closed(runId), keptSandboxIds: ['bx_a'] }, 'kept'],
    ['that kept another', of('mine'), { ...closed(runId), keptSandboxIds: ['bx_b'] }, 'closed'],
  ])('%s', (_, name, seen, status) => {
    expect(ownershipOf({ id: 'bx_a', name }, 'mine', seen).status).toBe(status);
  });
});

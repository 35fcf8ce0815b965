/** Who owns a sandbox, and whom Temporal must be asked about. */
import { describe, expect, test } from 'vitest';
import { executionOf, ownedSandboxName } from '../../../src/addresses/addresses.js';
import type { SandboxEnding } from '../../../src/protocol/ended-sandbox.js';
import type { SandboxEnd } from '../../../src/protocol/sandbox-owner.js';
import { type OwnerSeen, ownershipOf, ownerToAsk } from '../../../src/retention/ownership.js';

const runId = '0197-7000-8000-3030303030aa';
const execution = executionOf(runId);
const of = (deployment: string, step = 'main') =>
  ownedSandboxName({ deployment, jobId: 'a', execution, step, generation: 1 });

/** An end of `bx_a` by the job that created it. */
const end = (
  how: SandboxEnding,
  over: { sandboxId?: string; name?: string | null; by?: string; atMs?: number } = {},
): SandboxEnd => {
  const { sandboxId = 'bx_a', name = of('mine'), by = 'sf-mine-a', atMs = 1_000 } = over;
  return { sandboxId, workflowId: by, atMs, ended: { name, end: how, endedAtMs: atMs } };
};

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
  const later = end('kept', { sandboxId: 'bx_b', name: of('mine').replace(/1$/, '2') });
  test.each<[string, string | null, OwnerSeen | undefined, string]>([
    ['of a sandbox without a name', null, undefined, 'unknown'],
    ['of a name that no job gave', 'golden', undefined, 'none'],
    ['of another deployment', of('theirs'), undefined, 'other-deployment'],
    ['that Temporal does not know', of('mine'), undefined, 'unknown'],
    ['that runs', of('mine'), { isOpen: true, closedFirstRunIds: [runId] }, 'open'],
    ['that has ended', of('mine'), closed(runId), 'closed'],
    ['that has ended, among other executions', of('mine'), closed('other', runId), 'closed'],
    ['of which only other executions are known', of('mine'), closed('other'), 'unknown'],
    ['that kept it', of('mine'), { ...closed(runId), ends: [end('kept')] }, 'kept'],
    ['that stopped it', of('mine'), { ...closed(runId), ends: [end('stopped')] }, 'closed'],
    ['that could not stop it', of('mine'), { ...closed(runId), ends: [end('left')] }, 'closed'],
    [
      'that knew another of this name',
      of('mine'),
      { ...closed(runId), ends: [end('kept', { sandboxId: 'bx_b' })] },
      'unknown',
    ],
    ['that knew another of a later name', of('mine'), { ...closed(runId), ends: [later] }, 'closed'],
    ['whose memo cannot be read', of('mine'), { ...closed(runId), ends: [{ ...end('kept'), ended: null }] }, 'unknown'],
    [
      'whose memo of another cannot be read',
      of('mine'),
      { ...closed(runId), ends: [{ ...later, ended: null }] },
      'unknown',
    ],
  ])('%s', (_, name, seen, status) => {
    expect(ownershipOf({ id: 'bx_a', name }, 'mine', seen).status).toBe(status);
  });
});

describe('of the jobs that ended a sandbox, the last one decides', () => {
  const guest = (how: SandboxEnding, atMs: number) => end(how, { name: null, by: 'sf-mine-guest', atMs });
  const seen = (how: SandboxEnding): OwnerSeen => ({ isOpen: false, closedFirstRunIds: [runId], ends: [end(how)] });
  test.each<[string, SandboxEnding, SandboxEnd[], string]>([
    ['stopped, then continued and kept', 'stopped', [guest('kept', 2_000)], 'kept'],
    ['kept, then continued and stopped', 'kept', [guest('stopped', 2_000)], 'closed'],
    ['kept twice', 'kept', [guest('kept', 2_000)], 'kept'],
    ['kept, then continued, with a stop that failed', 'kept', [guest('left', 2_000)], 'kept'],
    ['continued and stopped before the job that created it had ended', 'kept', [guest('stopped', 500)], 'kept'],
    ['by two jobs at once', 'stopped', [guest('stopped', 3_000), guest('kept', 3_001)], 'kept'],
    ['by two jobs at once, the other way round', 'stopped', [guest('kept', 3_000), guest('stopped', 3_001)], 'closed'],
    ['in a way that cannot be read', 'kept', [{ ...guest('kept', 2_000), ended: null }], 'unknown'],
    [
      'after one that cannot be read',
      'kept',
      [{ ...guest('kept', 2_000), ended: null }, guest('stopped', 2_500)],
      'closed',
    ],
    ['another sandbox', 'stopped', [{ ...guest('kept', 2_000), sandboxId: 'bx_b' }], 'closed'],
  ])('%s', (_, own, ends, status) => {
    expect(ownershipOf({ id: 'bx_a', name: of('mine') }, 'mine', seen(own), { ends }).status).toBe(status);
  });

  test.each<[string, string | null, SandboxEnding, string]>([
    ["a person's sandbox that a job kept", 'golden', 'kept', 'kept'],
    ["a person's sandbox that a job stopped", 'golden', 'stopped', 'none'],
    ['one whose owner Temporal has forgotten, kept', of('mine'), 'kept', 'kept'],
    ['one whose owner Temporal has forgotten, stopped', of('mine'), 'stopped', 'unknown'],
    ['one of another deployment, kept', of('theirs'), 'kept', 'other-deployment'],
    ['one without a name, kept', null, 'kept', 'unknown'],
  ])('%s', (_, name, how, status) => {
    expect(ownershipOf({ id: 'bx_a', name }, 'mine', undefined, { ends: [guest(how, 1)] }).status).toBe(status);
  });

  test('and is named', () => {
    const owner = ownershipOf({ id: 'bx_a', name: of('mine') }, 'mine', seen('stopped'), {
      ends: [guest('kept', 2_000)],
    });
    expect(owner).toMatchObject({ status: 'kept', workflowId: 'sf-mine-guest', ended: { atMs: 2_000 } });
  });
});

describe('of two sandboxes with the name of a closed job', () => {
  const ownerOf = (ends: SandboxEnd[], hasNamesake = true) =>
    ownershipOf(
      { id: 'bx_a', name: of('mine') },
      'mine',
      { isOpen: false, closedFirstRunIds: [runId], ends },
      { hasNamesake },
    );

  test('the one that the job knew is its own', () => {
    expect(ownerOf([end('stopped')]).status).toBe('closed');
  });

  test('the other one is not, also if it is the only one left', () => {
    const knewOther = [end('stopped', { sandboxId: 'bx_b' })];
    const why = expect.stringMatching(/is bx_b; this one may be a fork/);
    expect(ownerOf(knewOther)).toMatchObject({ status: 'unknown', why });
    expect(ownerOf(knewOther, false)).toMatchObject({ status: 'unknown', why });
  });

  test('none is, if the job knew none; a single one is an orphan', () => {
    expect(ownerOf([])).toMatchObject({ status: 'unknown', why: expect.stringMatching(/another sandbox/) });
    expect(ownerOf([], false).status).toBe('closed');
  });
});

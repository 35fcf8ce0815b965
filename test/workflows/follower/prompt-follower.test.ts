/** The follower of prompts alone: who registers need not exist. Gate; costs some 6 CPU seconds. */
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { promptFollowerId } from '../../../src/addresses/addresses.js';
import { type FollowRegistration, followedQuery, followSignal } from '../../../src/protocol/messages.js';
import type { promptFollower } from '../../../workflows/index.js';
import { changedBy, shareChangedStand } from '../changed-stand.js';
import { createEncryptedStand, ringOf } from '../encryption/encrypted-harness.js';

const worker = { follow: { minIntervalMs: 100, maxIntervalMs: 100 } };
const { stand, change } = shareChangedStand({ worker });

/** The sandboxes that have left `running`. */
const left = new Set<string>();
const list = async () => ['bx_a', 'bx_b'].map((id) => ({ id, state: left.has(id) ? 'idle' : 'running' }));
beforeEach(() => {
  left.clear();
  change.listAllSandboxes = list;
});

/** The registration of a workflow that does not exist: Temporal says so, and then it counts as told. */
const registration = (name: string): FollowRegistration => ({
  workflowId: `nobody-${name}`,
  sandboxId: `bx_${name}`,
  // So old that a round lasts for half a minute, unless all end.
  sinceMs: Date.now() - 600_000,
  untilMs: Date.now() + 600_000,
});

const startFollower = (followed: readonly FollowRegistration[], maxHistoryEvents?: number, of = stand) =>
  of.client.workflow.start<typeof promptFollower>('promptFollower', {
    workflowId: promptFollowerId(of.taskQueue),
    taskQueue: of.taskQueue,
    args: [{ followed, maxHistoryEvents }],
  });
type Follower = Awaited<ReturnType<typeof startFollower>>;

const eventsOf = async (follower: Follower) => (await follower.fetchHistory()).events ?? [];

/** Resolves when a worker makes this attempt of a round. */
async function untilAttempt(follower: Follower, attempt: number): Promise<void> {
  const attemptOf = async () => {
    const [round] = (await follower.describe()).raw.pendingActivities ?? [];
    return round?.lastStartedTime ? round.attempt : 0;
  };
  await expect.poll(attemptOf).toBe(attempt);
}

/** What the last attempt of each round knows of the one before it. */
const earlierFailures = async (follower: Follower) =>
  (await eventsOf(follower)).flatMap(({ activityTaskStartedEventAttributes: round }) =>
    round ? [round.lastFailure ?? null] : [],
  );

describe('the follower of prompts', () => {
  it('asks for what it follows, so that no round has it in the history', async () => {
    const follower = await startFollower([registration('a'), registration('b')]);
    await untilAttempt(follower, 1);
    expect(await follower.query(followedQuery)).toMatchObject([{ sandboxId: 'bx_a' }, { sandboxId: 'bx_b' }]);
    left.add('bx_a').add('bx_b');
    await follower.result();
    const inputs = (await eventsOf(follower)).flatMap(({ activityTaskScheduledEventAttributes: round }) =>
      round ? [round.input?.payloads ?? []] : [],
    );
    expect(inputs).toEqual([[]]);
  });

  it('keeps a workflow that registers again in the round in which it was told', async () => {
    const itself = { ...registration('a'), workflowId: promptFollowerId(stand.taskQueue) };
    left.add('bx_a');
    const follower = await startFollower([itself, registration('b')]);
    const signals = async () =>
      (await eventsOf(follower)).flatMap(({ workflowExecutionSignaledEventAttributes: signal }) =>
        signal ? [signal.signalName] : [],
      );
    await expect.poll(signals).toEqual(['leftRunning']);
    left.delete('bx_a');
    await follower.signal(followSignal, itself);
    left.add('bx_b');
    const followed = async () => (await follower.query(followedQuery)).map(({ sandboxId }) => sandboxId);
    await expect.poll(followed).toEqual(['bx_a']);
    expect((await follower.describe()).status.name).toBe('RUNNING');
    left.add('bx_a');
    await follower.result();
    expect(await signals()).toEqual(['leftRunning', 'follow', 'leftRunning']);
  });

  it('goes on at once by another worker when its worker drains', async () => {
    let lists = 0;
    change.listAllSandboxes = () => {
      lists += 1;
      return list();
    };
    const follower = await startFollower([registration('a')]);
    // Before that, Temporal may give the attempt to the worker that drains, which loses it.
    await expect.poll(() => lists).toBeGreaterThan(0);
    lists = 0;
    await stand.restartWorker();
    // The round did not go on for the rest of its half minute.
    expect(lists).toBeLessThan(50);
    await untilAttempt(follower, 2);
    const [round] = (await follower.describe()).raw.pendingActivities ?? [];
    expect(round?.lastFailure).toMatchObject({ canceledFailureInfo: {}, timeoutFailureInfo: null });
    left.add('bx_a');
    // A worker that drains may get the next attempt too, and lose it: it then ends at its time limit.
    await follower.result();
  });

  it('follows in the next attempt what one has left that never answered', async () => {
    let answer = () => {};
    const answered = new Promise<void>((resolve) => {
      answer = resolve;
    });
    change.listAllSandboxes = () => answered.then(list);
    const follower = await startFollower([registration('a'), registration('b')]);
    await untilAttempt(follower, 1);
    left.add('bx_a').add('bx_b');
    const round = { workflowId: follower.workflowId, activityId: '1' };
    await stand.client.activity.fail(round, new Error('The worker died.'));
    await untilAttempt(follower, 2);
    answer();
    await follower.result();
    expect(await earlierFailures(follower)).toMatchObject([{ message: 'The worker died.' }]);
  });

  it('asks in an encrypted deployment too', async () => {
    const encrypted = await createEncryptedStand(ringOf('one'), { worker, through: changedBy(() => change) });
    onTestFinished(() => encrypted.close());
    const follower = await startFollower([registration('a')], undefined, encrypted);
    left.add('bx_a');
    await follower.result();
    expect(await earlierFailures(follower)).toEqual([null]);
  });

  it('holds 10,000 registrations of the longest names, also in its next run', async () => {
    const many = Array.from({ length: 10_000 }, (_, index) => {
      const name = String(index).padStart(8, '0');
      return { ...registration(name), workflowId: `sf-${'d'.repeat(12)}-${'j'.repeat(15)}${name}/i12345` };
    });
    change.listAllSandboxes = async () => many.map(({ sandboxId: id }) => ({ id, state: 'running' }));
    const follower = await startFollower(many, 5);
    await untilAttempt(follower, 1);
    await stand.client.activity.complete({ workflowId: follower.workflowId, activityId: '1' }, []);
    const latest = stand.client.workflow.getHandle<typeof promptFollower>(follower.workflowId);
    await expect.poll(async () => (await latest.describe()).runId).not.toBe(follower.firstExecutionRunId);
    await expect.poll(() => latest.query(followedQuery, { after: 9_999 })).toMatchObject([many.at(-1)]);
    await latest.terminate();
  });
});

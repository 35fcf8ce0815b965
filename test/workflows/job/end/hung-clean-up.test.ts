/** A job that is cut short ends within its clean-up time, whichever call of its clean-up hangs. */
import { expect, it } from 'vitest';
import { TimeoutError } from '../../../../src/client/index.js';
import type { JobInput } from '../../../../workflows/index.js';
import { atDeadline } from '../../at-deadline.js';
import { shareChangedStand } from '../../changed-stand.js';
import { type Stand, script, shortTiming } from '../../workflow-harness.js';

const { stand, change } = shareChangedStand();

const cut: Partial<JobInput> = {
  prompts: [{ prompt: script('echo x > out.txt; sleep 600') }],
  collect: ['out.txt'],
  timing: { ...shortTiming, cleanUpMs: 2_500 },
};

type Hung = 'createSandbox' | 'sendPrompt' | 'interruptSandbox' | 'readFile' | 'stopSandbox' | 'deleteSandbox';
type Job = Awaited<ReturnType<Stand['start']>>;

/** As long as the client waits for an answer. Longer than the whole clean-up of a job here. */
const givenUpAfterMs = 5_000;

/** No call gets an answer. @returns the number of calls */
function hang(endpoint: Hung): () => number {
  let calls = 0;
  change[endpoint] = async () => {
    calls += 1;
    await new Promise((resolve) => setTimeout(resolve, givenUpAfterMs));
    throw new TimeoutError(endpoint, true, givenUpAfterMs);
  };
  return () => calls;
}

/** The work of a job calls these, and its clean-up calls the others. */
const ofWork: ReadonlySet<Hung> = new Set(['createSandbox', 'sendPrompt']);

/** Runs a job whose deadline comes when the call hangs, or when the job follows its prompt. */
async function cutShortWith(endpoint: Hung, over: Partial<JobInput>) {
  let [calls, before] = [() => 0, 0];
  if (endpoint !== 'readFile') calls = hang(endpoint);
  const reached = async (job: Job) => {
    if (ofWork.has(endpoint)) return calls() > before;
    const { phase } = await job.query<{ phase: string }>('progress');
    // It is read before the prompt, too.
    if (phase === 'following' && endpoint === 'readFile') calls = hang(endpoint);
    return phase === 'following';
  };
  const start = (deadlineMs: number) => {
    before = calls();
    delete change.readFile;
    return stand.start({ ...cut, ...over, deadlineMs });
  };
  const { result } = await atDeadline(3_000, { start, reached });
  return { result, calls: calls() - before };
}

it.each<[Hung, Partial<JobInput>]>([
  ['createSandbox', {}],
  ['sendPrompt', {}],
  ['interruptSandbox', {}],
  ['readFile', {}],
  ['stopSandbox', {}],
  ['deleteSandbox', { end: 'delete' }],
])('a job at its deadline ends even if %s hangs, and names what it leaves', async (endpoint, over) => {
  const { result, calls } = await cutShortWith(endpoint, over);
  expect(result.outcome).toBe('deadline_exceeded');
  // When the first call is given up, the time of the clean-up is over.
  if (!ofWork.has(endpoint)) expect(calls).toBeLessThanOrEqual(1);
  const sandbox = result.sandboxId && (await stand.api.getSandbox(result.sandboxId)).sandbox;
  if (sandbox && sandbox.state !== 'archived')
    expect(result.left).toContainEqual(expect.objectContaining({ kind: 'sandbox', sandboxId: sandbox.id }));
});

it.each(['interruptSandbox', 'readFile'] as const)(
  'a job at its deadline still has the time to stop its sandbox if %s hangs',
  async (endpoint) => {
    // Of this time, the hung call may take a quarter at most.
    const { result, calls } = await cutShortWith(endpoint, { timing: { ...shortTiming, cleanUpMs: 40_000 } });
    expect(calls).toBeGreaterThan(0);
    expect(result).toMatchObject({ outcome: 'deadline_exceeded', stop: { status: 'completed' }, left: [] });
    expect(result.files).toMatchObject([{ path: 'out.txt', partial: true }]);
  },
);

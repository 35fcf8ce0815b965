/** Jobs on their own: `createThenPrompt` with what it can be asked for. */
import { jobWorkflowId } from '../../src/contract/addresses.js';
import { type JobInput, type JobResult, progressQuery } from '../../workflows/index.js';
import { deployment, type Stand, script, shortTiming } from '../workflows/stand.js';
import type { Ended, RunOptions, Scenario } from './scenario.js';
import { inState, made, type World } from './world.js';

type Handle = Awaited<ReturnType<Stand['start']>>;

interface JobScenario extends Partial<Pick<Scenario, 'keeps' | 'makes' | 'always' | 'expected'>> {
  readonly name: string;
  readonly input: (world: World, id: string, given: string | undefined) => Partial<JobInput>;
  /** What the job is given to work in. */
  readonly given?: (world: World) => Promise<string>;
  readonly deadlineMs?: number;
  readonly during?: (handle: Handle) => Promise<unknown>;
}

export const matrixTiming = { ...shortTiming, cleanUpMs: 4_000 };

const echo = (id: string, at = 0) => ({ prompt: script(`echo ${id} ${at}`) });
const long = (id: string) => [{ prompt: script(`echo ${id}; sleep 40`) }];
const create = { source: { kind: 'create' as const, body: {} } };
const archived = async ({ stand }: World) => {
  const sandboxId = await made(stand, 'given');
  await stand.api.stopSandbox(sandboxId);
  await inState(stand, sandboxId, 'archived');
  return sandboxId;
};
const ready = ({ stand }: World) => made(stand, 'given');

/** Resolves when the job follows its prompt, or will not any more. */
async function following(handle: Handle): Promise<void> {
  for (;;) {
    const { phase } = await handle.query(progressQuery);
    if (phase === 'following' || phase === 'ended') return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

const scenarios: readonly JobScenario[] = [
  {
    name: 'full',
    input: (_, id) => ({
      source: { kind: 'create', body: { setupScript: 'true' } },
      put: [{ path: 'in.txt', content: { base64: Buffer.from(id).toString('base64') } }],
      commands: ['cat in.txt'],
      prompts: [{ prompt: script('cat in.txt > out.txt; cat out.txt') }],
      collect: ['out.txt'],
      end: 'stop',
    }),
  },
  {
    name: 'two-prompts-delete',
    input: (_, id) => ({ ...create, prompts: [echo(id), echo(id, 1)], waitFor: 'hydrated', end: 'delete' }),
  },
  {
    name: 'side-by-side-keep',
    keeps: true,
    input: (_, id) => ({ ...create, prompts: [echo(id), echo(id, 1)], conversations: 'each', end: 'keep' }),
  },
  {
    name: 'fork',
    input: ({ sourceId }, id) => ({
      source: { kind: 'fork', sandboxId: sourceId },
      waitFor: 'hydrated',
      prompts: [echo(id)],
      end: 'stop',
    }),
  },
  {
    name: 'resume',
    makes: 0,
    given: archived,
    input: (_, id, given = '') => ({
      source: { kind: 'existing', sandboxId: given },
      waitFor: 'hydrated',
      prompts: [echo(id)],
      end: 'stop',
    }),
  },
  {
    name: 'existing-keep',
    makes: 0,
    keeps: true,
    given: ready,
    input: (_, id, given = '') => ({
      source: { kind: 'existing', sandboxId: given },
      prompts: [echo(id), echo(id, 1)],
      end: 'keep',
    }),
  },
  {
    name: 'cancelled',
    expected: 'cancelled',
    input: (_, id) => ({ ...create, prompts: long(id), collect: ['out.txt'], end: 'delete' }),
    during: async (handle) => {
      await following(handle);
      await handle.cancel();
    },
  },
  {
    name: 'overdue',
    expected: 'deadline_exceeded',
    deadlineMs: 4_000,
    input: (_, id) => ({ ...create, prompts: long(id), collect: ['out.txt'], end: 'stop' }),
  },
  {
    name: 'existing-cancelled',
    makes: 0,
    keeps: true,
    expected: 'cancelled',
    given: ready,
    input: (_, id, given = '') => ({
      source: { kind: 'existing', sandboxId: given },
      prompts: long(id),
      end: 'keep',
    }),
    during: async (handle) => {
      await following(handle);
      await handle.cancel();
    },
  },
  {
    name: 'renewing',
    input: (_, id) => ({
      ...create,
      prompts: [{ prompt: script(`echo ${id}; sleep 5`) }],
      ttlSeconds: 6,
      end: 'stop',
    }),
  },
  {
    name: 'waits-for-evidence',
    input: (_, id) => ({ ...create, prompts: [echo(id)], onUnknownOutcome: 'wait', end: 'stop' }),
    always: {
      'sendPrompt/sendPrompt#1': 'dropped-after',
      ...Object.fromEntries([2, 3, 4, 5].map((nth) => [`sendPrompt/listEvents#${nth}`, 'page-502'])),
    },
  },
  {
    name: 'foreign-create',
    always: { 'createSandbox/createSandbox#1': 'foreign-ids' },
    input: (_, id) => ({ ...create, prompts: [echo(id)], end: 'stop' }),
  },
  {
    name: 'lost-prompt',
    always: { 'sendPrompt/sendPrompt#1': 'dropped-after' },
    input: (_, id) => ({ ...create, prompts: [echo(id)], end: 'stop' }),
  },
  {
    name: 'lost-stop',
    always: { 'stopSandbox/stopSandbox#1': 'dropped-before' },
    input: (_, id) => ({ ...create, prompts: [echo(id)], end: 'stop' }),
  },
  {
    name: 'lost-resume',
    makes: 0,
    given: archived,
    always: { 'resumeSandbox/resumeSandbox#1': 'dropped-after' },
    input: (_, id, given = '') => ({
      source: { kind: 'existing', sandboxId: given },
      prompts: [echo(id)],
      end: 'stop',
    }),
  },
  {
    name: 'lost-delete',
    always: { 'deleteSandbox/deleteSandbox#1': 'dropped-before' },
    input: (_, id) => ({ ...create, prompts: [echo(id)], end: 'delete' }),
  },
];

export const jobScenarios: readonly Scenario[] = scenarios.map((scenario) => ({
  expected: 'completed',
  makes: 1,
  ...scenario,
  workflow: 'createThenPrompt',
  async prepare(world, options) {
    const given = await scenario.given?.(world);
    const workflowId = jobWorkflowId(deployment, options.id);
    return {
      workflowId,
      given: given === undefined ? [] : [given],
      isOf: (tag) => tag.workflowId === workflowId,
      owns: ({ id, name }) => id === given || name.startsWith(`${workflowId}-`),
      run: () => runJob(world, scenario, options, given),
    };
  },
}));

async function runJob({ ...world }: World, scenario: JobScenario, options: RunOptions, given: string | undefined) {
  const { id, deadlineMs, taskQueue } = options;
  const input: Partial<JobInput> = {
    onUnknownOutcome: 'abandon',
    ...scenario.input(world, id, given),
    jobId: id,
    deadlineMs: Math.min(deadlineMs, scenario.deadlineMs ?? deadlineMs),
    timing: matrixTiming,
  };
  const handle = await world.stand.start(input, { taskQueue });
  // A job that ends before it is interfered with is as good a run.
  scenario.during?.(handle).catch(() => undefined);
  const result = await handle.result();
  return { ...sayingOf(result), outcome: result.outcome };
}

/** What the result of a job says about sandboxes. */
export function sayingOf(result: JobResult): Omit<Ended, 'outcome'> {
  const { sandboxId, stop, deletion, left } = result;
  return {
    jobs: [result],
    left: left.flatMap((one) => [one.sandboxId ?? [], one.sandboxName ?? []].flat()),
    saysArchived: sandboxId !== null && stop?.status === 'completed' ? [sandboxId] : [],
    saysDeleted: sandboxId !== null && deletion?.status === 'completed' ? [sandboxId] : [],
  };
}

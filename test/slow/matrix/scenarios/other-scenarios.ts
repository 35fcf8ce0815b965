/** Batches, stops and cleanups. */
import { cleanupId, jobWorkflowId, sandboxStopId } from '../../../../src/addresses/addresses.js';
import { parseEscalation } from '../../../../src/protocol/escalation.js';
import { readPolicy } from '../../../../src/retention/index.js';
import { startCleanup } from '../../../../src/workflow-client/cleanups/cleanup-client.js';
import { cleaned, policyFor } from '../../../workflows/cleanup/cleanup-harness.js';
import {
  ended as batchEnded,
  fanoutInput,
  items,
  lines,
  source,
  submit,
} from '../../../workflows/fanout/fanout-harness.js';
import { ask, outcomeOf } from '../../../workflows/stop/stop-harness.js';
import { deployment, type Stand } from '../../../workflows/workflow-harness.js';
import { inState, made, type World } from '../world.js';
import { matrixTiming, sayingOf } from './job-scenario.js';
import type { Ended, RunOptions, Scenario } from './scenario.js';

interface BatchScenario extends Pick<Scenario, 'name' | 'makes' | 'forks' | 'rowsAt'> {
  /** Creates a source for each run. */
  readonly given?: (world: World) => Promise<string>;
  readonly source: (sourceId: string, deadlineMs: number) => Parameters<typeof fanoutInput>[0];
}

const batches: readonly BatchScenario[] = [
  { name: 'batch', makes: 2, forks: true, source },
  {
    name: 'batch-usable-source',
    makes: 2,
    // It stops its source before a fork if nobody works there.
    rowsAt: ['getSandbox/getSandbox#1', 'stopSandbox/stopSandbox#1', 'getStop/getStop#1'],
    given: ({ stand }) => made(stand, 'usable source'),
    source,
  },
  {
    name: 'batch-prepared',
    makes: 2,
    source: (_, deadlineMs) => ({
      kind: 'prepare',
      body: {},
      put: [{ path: 'seed', content: { base64: Buffer.from('seed').toString('base64') } }],
      commands: ['cat seed'],
      prompts: [],
      deadlineMs,
      end: 'delete',
    }),
  },
];

const batchScenarios: readonly Scenario[] = batches.map((scenario) => ({
  ...scenario,
  workflow: 'forkFanout',
  expected: 'completed',
  async prepare(world, options) {
    const workflowId = jobWorkflowId(deployment, options.id);
    const sourceId = (await scenario.given?.(world)) ?? options.sourceId;
    return {
      workflowId,
      given: [],
      sourceId,
      isOf: (tag) => tag.workflowId === workflowId || tag.workflowId.startsWith(`${workflowId}/`),
      owns: ({ name }) => name.startsWith(`${workflowId}-`),
      run: () => runBatch(world.stand, scenario.source(sourceId ?? world.sourceId, options.deadlineMs), options),
    };
  },
}));

async function runBatch(
  stand: Stand,
  of: Parameters<typeof fanoutInput>[0],
  { id, deadlineMs }: RunOptions,
): Promise<Ended> {
  const input = fanoutInput(of, {
    batchId: id,
    timing: matrixTiming,
    policy: { itemDeadlineMs: deadlineMs, deadlineMs: deadlineMs + 5_000, onUnknownOutcome: 'abandon', end: 'delete' },
  });
  await submit(
    stand,
    input,
    items(makesItems, (at) => `echo ${id} ${at}`),
  );
  const result = await batchEnded(stand, input);
  const said = (result.resultsRef === null ? [] : await lines(stand, result)).flatMap(({ job }) =>
    job === null ? [] : sayingOf(job),
  );
  return {
    outcome: result.outcome,
    jobs: said.flatMap(({ jobs }) => jobs),
    left: [
      ...result.left.flatMap(({ sandboxId, sandboxName }) => [sandboxId ?? [], sandboxName ?? []].flat()),
      ...said.flatMap(({ left }) => left),
    ],
    saysArchived: said.flatMap(({ saysArchived }) => saysArchived),
    saysDeleted: said.flatMap(({ saysDeleted }) => saysDeleted),
  };
}
const makesItems = 2;

const stopScenario: Scenario = {
  name: 'stop',
  workflow: 'stopAndAwaitArchive',
  expected: 'archived',
  makes: 0,
  async prepare({ stand }, { deadlineMs }) {
    const sandboxId = await made(stand, 'to be stopped');
    const workflowId = sandboxStopId(sandboxId);
    return {
      workflowId,
      given: [sandboxId],
      isOf: (tag) => tag.workflowId === workflowId,
      owns: ({ id }) => id === sandboxId,
      async run() {
        const requested = await ask(stand, { sandboxId, deadlineMs, timing: matrixTiming });
        const { outcome } = await outcomeOf(stand, requested);
        const isArchived = outcome === 'archived' || outcome === 'already_archived';
        return {
          outcome: String(outcome),
          jobs: [],
          left: isArchived || outcome === 'superseded' ? [] : [sandboxId],
          saysArchived: isArchived ? [sandboxId] : [],
          saysDeleted: [],
        };
      },
    };
  },
};

/** A stop that fails until a step of its escalation ends it. */
const escalatedStops: readonly Scenario[] = (
  [
    ['stop-resumed', '1s: resume-and-stop', 'archived'],
    ['stop-deleted', '1s: delete', 'deleted'],
  ] as const
).map(([name, text, expected]) => ({
  ...{ name, expected },
  workflow: 'stopAndAwaitArchive',
  makes: 0,
  async prepare({ stand }, { deadlineMs }) {
    const sandboxId = await made(stand, 'to be escalated');
    const workflowId = sandboxStopId(sandboxId);
    // The first attempts fail whatever stop is theirs, because the id of the stop comes with its answer.
    await stand.fault({ kind: 'stop_fails', sandboxId, times: 3 });
    const { stop } = await stand.api.stopSandbox(sandboxId);
    await stand.fault({ kind: 'stop_fails', stopId: stop?.id ?? '', times: 100_000 });
    return {
      workflowId,
      given: [sandboxId],
      isOf: (tag) => tag.workflowId === workflowId,
      owns: ({ id }) => id === sandboxId,
      async run() {
        const escalate = parseEscalation(text, { mayDelete: true });
        const requested = await ask(stand, { sandboxId, deadlineMs, timing: matrixTiming, escalate });
        const { outcome } = await outcomeOf(stand, requested);
        const isArchived = outcome === 'archived' || outcome === 'already_archived';
        const isDeleted = outcome === 'deleted';
        return {
          outcome: String(outcome),
          jobs: [],
          left: isArchived || isDeleted || outcome === 'superseded' ? [] : [sandboxId],
          saysArchived: isArchived ? [sandboxId] : [],
          saysDeleted: isDeleted ? [sandboxId] : [],
        };
      },
    };
  },
}));

interface CleanupScenario {
  readonly name: string;
  readonly action: 'stop' | 'delete-sandbox' | 'delete-snapshot';
  readonly mode?: 'plan';
}

/** The newest is never deleted. */
const snapshotsBefore = { stop: 0, 'delete-sandbox': 1, 'delete-snapshot': 2 } as const;

const cleanups: readonly CleanupScenario[] = [
  { name: 'cleanup-plan', action: 'stop', mode: 'plan' },
  { name: 'cleanup-stop', action: 'stop' },
  { name: 'cleanup-delete', action: 'delete-sandbox' },
  { name: 'cleanup-snapshots', action: 'delete-snapshot' },
];

const cleanupScenarios: readonly Scenario[] = cleanups.map(
  ({ name, action, mode }): Scenario => ({
    name,
    workflow: 'retentionCleanup',
    expected: mode !== undefined ? 'planned' : 'applied',
    makes: 0,
    keeps: true,
    async prepare({ stand }, { id, deadlineMs, taskQueue }) {
      const sandboxId = await made(stand, `${id}-1`);
      if (action === 'delete-snapshot') await stand.api.updateSandbox(sandboxId, { snapshotName: `tmp-${id}` });
      for (let stops = 0; stops < snapshotsBefore[action]; stops += 1) {
        if (stops > 0) {
          await stand.api.resumeSandbox(sandboxId);
          await inState(stand, sandboxId, 'ready');
        }
        await stand.api.stopSandbox(sandboxId);
        await inState(stand, sandboxId, 'archived');
      }
      const prefix = `${cleanupId(deployment, id)}-`;
      const timing = { safetyPollFirstMs: 50, safetyPollMaxMs: 500 };
      const settings = { settleMs: 0, actionDeadlineMs: deadlineMs, timing };
      return {
        workflowId: prefix,
        given: [sandboxId],
        isOf: (tag) => tag.workflowId.startsWith(prefix),
        owns: (sandbox) => sandbox.id === sandboxId,
        async run() {
          const policy = readPolicy(
            policyFor(id, action, '', action === 'delete-snapshot' ? '    snapshotName: tmp-*' : ''),
            'test',
          );
          const handle = await startCleanup(stand.client, {
            deployment,
            taskQueue,
            policy,
            mode: mode ?? 'apply',
            settings,
          });
          // A plan has no deadline: the waiter abandons it.
          const timer = setTimeout(() => void handle.cancel().catch(() => undefined), deadlineMs);
          const summary = await handle.result();
          clearTimeout(timer);
          const of = summary.reportRef === null ? 'not reported' : (await cleaned(stand, summary)).of(sandboxId);
          return {
            outcome: summary.outcome,
            jobs: [],
            left: [],
            saysArchived: of === 'stopped' ? [sandboxId] : [],
            saysDeleted: of === 'deleted' && action === 'delete-sandbox' ? [sandboxId] : [],
          };
        },
      };
    },
  }),
);

export const otherScenarios: readonly Scenario[] = [
  ...batchScenarios,
  stopScenario,
  ...escalatedStops,
  ...cleanupScenarios,
];

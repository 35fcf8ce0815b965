/**
 * A batch over several sources with many faults: its worker is killed at drawn calls, calls fail, are slow or lose
 * their answers, and webhooks are lost. SANDFLOW_TEST_FANOUT_ITEMS sets its size and TEST_SEED what is drawn; 1,000
 * items have 50 sources and take up to an hour.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { parseOwnedSandboxName } from '../../../../src/addresses/addresses.js';
import { isOfOthers } from '../../../../src/protocol/failure-class.js';
import type { FanoutSource, NewFanoutItem } from '../../../../src/protocol/fanout/fanout-input.js';
import { longestMachineSeconds } from '../../../../src/protocol/fanout/longest-machine-seconds.js';
import type { LeftBehind } from '../../../../src/protocol/job/job-result.js';
import { connectTemporal } from '../../../../src/temporal/connect.js';
import { awaitFanout, submitFanout } from '../../../../src/workflow-client/fanouts/submit-fanout.js';
import { arm, type BooksRead, readBooks, shell } from '../../../e2e/stack/fixture.js';
import { createParts, type PartsOfStack } from '../../../e2e/stack/fixture-parts.js';
import { archivedSandbox } from '../../../e2e/stack/fixture-sandbox.js';
import type { AskedCall, Refusal } from '../../../e2e/stack/fixture-tap.js';
import { always, batchOfBadDay, lostWebhooks, resultsOf, startMortalWorker, untilQuiet } from './bad-day.js';
import { createFaultyTap } from './drawn-faults.js';

const items = Number(process.env.SANDFLOW_TEST_FANOUT_ITEMS ?? 24);
const sources = Math.max(4, Math.round(items / 20));
const perSource = Math.ceil(items / sources);
const deaths = Math.max(3, Math.round(items / 100));
const seed = inject('propertySeed');
const taskQueue = 'fanout-sources';
const batchId = 'sources';
const concurrency = Math.max(12, items / 20);
/** Of an item whose prompt is never accepted, in ms. */
const shortDeadlineMs = 90_000;

/** How an item ends: by itself, or because the service refuses all of its prompts or forks. */
type End = 'completes' | 'agent_fails' | 'prompt_refused' | 'fork_refused';
interface PlannedItem {
  readonly source: number;
  readonly isDeleted: boolean;
  readonly end: End;
}
interface PlannedSource {
  readonly kind: 'of_others' | 'unprepared' | 'prepared';
  readonly end: 'stop' | 'delete';
}

const drawn = <T>(one: fc.Arbitrary<T>, count: number) => fc.sample(fc.noBias(one), { seed, numRuns: count });
const ends: readonly End[] = [
  ...Array<End>(14).fill('completes'),
  ...(['agent_fails', 'agent_fails', 'prompt_refused', 'fork_refused'] as const),
];
const firstEnds: readonly (End | undefined)[] = ['agent_fails', 'prompt_refused', 'fork_refused'];
const plannedSources = drawn(fc.constantFrom('stop', 'delete'), sources).map((end, number): PlannedSource => {
  const kind = number % 25 === 0 ? 'of_others' : number % 25 === 1 ? 'unprepared' : 'prepared';
  return { kind, end };
});
const plannedItems = drawn(fc.record({ isDeleted: fc.boolean(), end: fc.constantFrom(...ends) }), items).map(
  ({ isDeleted, end }, index): PlannedItem => {
    return { source: Math.floor(index / perSource), isDeleted, end: firstEnds[index] ?? end };
  },
);
const hasSource = ({ source }: PlannedItem) => plannedSources[source]?.kind !== 'unprepared';
const countOf = (...wanted: readonly End[]) =>
  plannedItems.filter((item) => hasSource(item) && wanted.includes(item.end)).length;

const seedOf = (source: number) => `of source ${source}\n`;
const answerOf = (index: number) => `answer ${index}\n`;

function sourceOf(number: number, ofOthers: string): FanoutSource {
  const { kind, end } = plannedSources[number] as PlannedSource;
  if (kind === 'of_others') return { kind: 'sandbox', sandboxId: ofOthers, allowStale: false };
  const command = kind === 'prepared' ? `echo "of source ${number}" > note` : `echo "source ${number} breaks"; exit 7`;
  return { kind: 'prepare', body: {}, put: [], prompts: [], commands: [command], deadlineMs: 1_800_000, end };
}

function itemOf({ source, end, isDeleted }: PlannedItem, index: number, ofOthers: readonly string[]): NewFanoutItem {
  const script = `cat note; echo answer ${index}; exit ${end === 'agent_fails' ? 3 : 0}`;
  return {
    id: `line-${index}`,
    prompts: [{ prompt: shell(script) }],
    source: sourceOf(source, ofOthers[source] ?? ''),
    end: isDeleted ? 'delete' : 'stop',
    ...(end === 'prompt_refused' && { deadlineMs: shortDeadlineMs }),
  };
}

/** The place of the item or of the source that owns a sandbox; undefined for one of others. */
function ownerOf(sandboxName: string): { readonly item?: number; readonly source?: number } {
  const step = parseOwnedSandboxName(sandboxName)?.step ?? '';
  const place = Number.parseInt(step.slice(1), 36);
  if (step.startsWith('i')) return { item: place };
  return step.startsWith('p') ? { source: place } : {};
}

function certainRefusal({ method, path, body }: AskedCall): Refusal | undefined {
  if (method !== 'POST') return undefined;
  if (path.endsWith('/fork')) {
    const { name } = JSON.parse(body) as { readonly name: string };
    const isRefused = plannedItems[ownerOf(name).item ?? -1]?.end === 'fork_refused';
    return isRefused ? { status: 409, code: 'fork_failed' } : undefined;
  }
  if (!path.endsWith('/prompt')) return undefined;
  const index = Number(/echo answer (\d+);/.exec(body)?.[1]);
  return plannedItems[index]?.end === 'prompt_refused' ? { status: 503, code: 'service_unavailable' } : undefined;
}

const promptsOf = (item: PlannedItem) => {
  if (!hasSource(item)) return 0;
  // An agent that fails is tried again once.
  return { completes: 1, agent_fails: 2, prompt_refused: 0, fork_refused: 0 }[item.end];
};

function hasEndedAsAsked({ name, state, gone }: BooksRead['sandboxes'][number]): boolean {
  const { item, source } = ownerOf(name);
  const isDeleted = plannedItems[item ?? -1]?.isDeleted ?? plannedSources[source ?? -1]?.end === 'delete';
  return isDeleted ? gone === 'deleted' : state === 'archived' && gone === null;
}

/** A fork whose first call was lost: the refusal of later calls does not show that it was not made. */
function isUnconfirmedFork({ kind, sandboxId, sandboxName }: LeftBehind): boolean {
  const { item = -1 } = ownerOf(sandboxName ?? '');
  return kind === 'sandbox' && sandboxId === null && plannedItems[item]?.end === 'fork_refused';
}

/** How often each number below the limit is among them. */
function tally(numbers: readonly (number | undefined)[], limit: number): readonly number[] {
  const counts = Array<number>(limit).fill(0);
  for (const one of numbers) if (one !== undefined) counts[one] = (counts[one] ?? 0) + 1;
  return counts;
}

let parts: PartsOfStack;
beforeAll(async () => {
  parts = await createParts();
});
afterAll(() => parts.close());

it('loses and doubles no item, ends every source, and tells whose failure each is, despite all faults', {
  timeout: 7_200_000,
}, async ({ annotate }) => {
  const service = await parts.startService('bad', {
    faultsEnabled: true,
    timings: { archiveMs: 100, hydrationMs: 100 },
  });
  const ofOthers: string[] = [];
  for (const [number, { kind }] of plannedSources.entries()) {
    if (kind !== 'of_others') continue;
    ofOthers[number] = await archivedSandbox(service, { path: 'note', content: seedOf(number) });
  }
  // Some nine calls for each item are accepted.
  const atCalls = drawn(fc.integer({ min: 10, max: 7 * countOf('completes') }), deaths).sort((a, b) => a - b);
  let accepted = 0;
  let replacing: Promise<void> | undefined;
  const replacements: Promise<void>[] = [];
  const tap = await createFaultyTap(service, {
    seed,
    certain: certainRefusal,
    onAccepted() {
      accepted += 1;
      if (replacing || accepted < (atCalls[worker.deaths] ?? Number.POSITIVE_INFINITY)) return;
      replacing = worker.replace().finally(() => {
        replacing = undefined;
      });
      replacements.push(replacing);
    },
  });
  const environment = parts.environment({ ...service, url: tap.url }, taskQueue);
  const worker = await startMortalWorker(parts, environment);
  await arm(service, [lostWebhooks, { ...always, kind: 'webhook_double', probability: 0.1 }]);
  const temporal = await connectTemporal({ address: environment.TEMPORAL_ADDRESS ?? '' });
  const bad = batchOfBadDay(batchId, { concurrency, retries: 1 });
  const reservedSeconds = longestMachineSeconds('default', bad.policy.itemDeadlineMs);
  const budgetSeconds = concurrency * reservedSeconds + items * 90;
  const batch = { ...bad, policy: { ...bad.policy, budgetSeconds, breaker: 0 } };
  try {
    const newItems = plannedItems.map((item, index) => itemOf(item, index, ofOthers));
    await submitFanout(temporal, batch, newItems, { taskQueue });
    const result = await awaitFanout(temporal, batch);
    await Promise.all(replacements);
    await untilQuiet(temporal);
    const { counts, budget, durationMs } = result;
    await annotate(JSON.stringify({ items, sources, seed, deaths: worker.deaths, struck: tap.struck, accepted }));
    await annotate(JSON.stringify({ counts, sources: result.sources, budget, durationMs, left: result.left }));
    expect(result).toMatchObject({ outcome: 'partly_failed', error: { code: 'command_failed' } });
    expect(result.left.filter((one) => !isUnconfirmedFork(one))).toEqual([]);
    const unprepared = plannedSources.filter(({ kind }) => kind === 'unprepared').length;
    expect(result.sources).toMatchObject({ ended: sources - unprepared, failed: unprepared });

    const results = await resultsOf(parts, result);
    expect(results.map(({ itemId }) => itemId)).toEqual(newItems.map(({ id }) => id));
    const isTrue = (index: number) => {
      const { outcome, failureClass = null, job } = results[index] ?? {};
      const { end, source } = plannedItems[index] as PlannedItem;
      if (!hasSource(plannedItems[index] as PlannedItem)) return outcome === 'not_started';
      if (end === 'agent_fails') return outcome === 'prompt_failed' && failureClass === 'agent';
      if (end !== 'completes') return outcome !== 'completed' && isOfOthers(failureClass);
      const answer = `${seedOf(source)}${answerOf(index)}`;
      return outcome === 'completed' && failureClass === null && job?.prompts[0]?.result === answer;
    };
    const untrue = results.filter(({ index }) => !isTrue(index));
    expect(untrue.map(({ index, ...rest }) => ({ ...plannedItems[index], ...rest }))).toEqual([]);
    const byClass = { agent: countOf('agent_fails'), service: expect.any(Number), machine: expect.any(Number) };
    expect(counts).toMatchObject({
      completed: countOf('completes'),
      failed: countOf('agent_fails', 'prompt_refused', 'fork_refused'),
      byClass,
    });

    const books = await readBooks(service);
    const names = new Map(books.sandboxes.map(({ id, name }) => [id, name]));
    // Those of others have one name.
    const made = [...names.values()].filter((name) => parseOwnedSandboxName(name) !== undefined);
    expect(new Set(made).size).toBe(made.length);
    const prompted = books.prompts.map(({ sandboxId }) => names.get(sandboxId) ?? '');
    expect(new Set(prompted).size).toBe(prompted.length);
    expect(
      tally(
        prompted.map((name) => ownerOf(name).item),
        items,
      ),
    ).toEqual(plannedItems.map(promptsOf));
    expect(
      tally(
        books.sandboxes.map(({ name }) => ownerOf(name).source),
        sources,
      ),
    ).toEqual(plannedSources.map(({ kind }) => (kind === 'of_others' ? 0 : 1)));
    expect(books.sandboxes.filter((one) => one.meter.runningSince !== null || !hasEndedAsAsked(one))).toEqual([]);
    const forks = books.sandboxes.filter(({ name }) => ownerOf(name).item !== undefined);
    const usedSeconds = forks.reduce((sum, { meter }) => sum + meter.seconds, 0);
    await annotate(JSON.stringify({ usedSeconds }));
    expect(usedSeconds).toBeLessThanOrEqual(budget.spentSeconds);
    expect(budget.spentSeconds).toBeLessThanOrEqual(budgetSeconds);
  } finally {
    await temporal.connection.close();
    await tap.close();
  }
  expect({ deaths: worker.deaths, unused: Object.values(tap.struck).filter((one) => one === 0) }).toEqual({
    deaths,
    unused: [],
  });
});

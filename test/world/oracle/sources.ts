/** Promises about batches whose items name sources: each is prepared once, in turn, and is there for its own items only. */
import { itemIndexOf, parseOwnedSandboxName } from '../../../src/addresses/addresses.js';
import { jobSettings } from '../../../src/job-settings/job-settings.js';
import { failureClassOf } from '../../../src/protocol/failure-class.js';
import type { BatchPlan } from '../plan/plan.js';
import {
  endOfPrepared,
  failingSources,
  givenBySource,
  isPrepared,
  seedOf,
  sourceOfIndex,
  stepOf,
} from '../players/sources.js';
import type { BatchEnd, Told } from '../players/told.js';
import type { CallOfWorld } from '../stack/wire.js';
import { isRefusal } from './causes.js';
import { expectedOfSources } from './expected.js';
import { missedTime } from './missed-time.js';
import { type Broken, hasStruck, isEndOfAny, madeBy, planOf, troublesOf, type WorldRecord } from './record.js';
import { statesOf } from './work.js';

/** What is known of one of the sources. */
interface Source {
  readonly at: number;
  /** Sandboxes that were prepared for it, in order. */
  readonly prepared: readonly Prepared[];
  /** The sandboxes that its items may fork. */
  readonly forkable: ReadonlySet<string>;
  /** Calls of its items that change something. */
  readonly calls: readonly CallOfWorld[];
  /** True if somebody acted on its sandboxes, or on a fork of one. */
  readonly isActedOn: boolean;
}

type Prepared = WorldRecord['books']['sandboxes'][number] & { readonly generation: number };

interface Played {
  readonly record: WorldRecord;
  readonly plan: BatchPlan;
  readonly told: Told;
  readonly ends: readonly BatchEnd[];
  readonly sources: readonly Source[];
}

export function brokenSources(record: WorldRecord): Broken[] {
  return record.told.flatMap((told): Broken[] => {
    const plan = planOf(record, told.job);
    if (plan?.kind !== 'batch' || !plan.sources || !told.ends) return [];
    const played = { record, plan, told, ends: told.ends, sources: sourcesOf(record, plan, told) };
    const broken = (promise: string, found: readonly string[]) =>
      found.map((what) => ({ promise, job: told.job, what }));
    const late = missedTime(record, told);
    return [
      ...broken('a source is prepared once', preparedAgain(played)),
      ...broken('no more sources at once than asked', tooManyAtOnce(played)),
      ...broken('a source ends after its last item, as asked', endsWrongly(played)),
      ...broken('an item runs on a fork of its own source', strayed(played)),
      ...broken('a source that fails costs only its own items', costsOthers(played)).map((one) => ({ ...one, late })),
    ];
  });
}

function sourcesOf(record: WorldRecord, plan: BatchPlan, told: Told): readonly Source[] {
  const { traces } = record;
  const made = madeBy(record, told).flatMap((sandbox) => {
    const parts = parseOwnedSandboxName(traces.renamed.get(sandbox.id) ?? sandbox.name);
    return parts ? [{ ...sandbox, step: parts.step, generation: parts.generation }] : [];
  });
  const given = givenBySource(plan, told.given);
  return given.map((sandboxId, at) => {
    const prepared = isPrepared(plan, at) ? made.filter(({ step }) => step === stepOf(plan, at)) : [];
    const isOf = (index: number | undefined) => index !== undefined && sourceOfIndex(plan, index) === at;
    const forks = made.filter(({ step }) => isOf(itemIndexOf(step)));
    const own = [sandboxId ?? [], prepared.map(({ id }) => id)].flat();
    const kind = plan.sources?.of[at];
    const isSnapshot = kind === 'snapshot' || (kind === 'batch' && plan.source === 'snapshot');
    return {
      at,
      prepared,
      forkable: new Set(isSnapshot ? [] : own),
      calls: record.calls.filter(
        ({ job, call }) => job === told.job && !call.isRead && isOf(itemIndexOf(call.workflowId)),
      ),
      isActedOn: [...own, ...forks.map(({ id }) => id)].some((id) => traces.acted.has(id)),
    };
  });
}

const nameOf = ({ plan: { sources } }: Played, at: number) => `source ${at} (${sources?.of[at]})`;
const didDie = (record: WorldRecord) => hasStruck(record, ({ kind }) => ['death', 'crash', 'deploy'].includes(kind));
/** A person who resumes the batch has mended its preparations before. */
const isMended = ({ plan }: Played, run: number) => run > 0 && plan.sources?.afterwards === 'mend';
/** Which run of the batch, from 0, this time belongs to. */
const runAt = ({ ends }: Played, atMs: number) => ends.filter((end) => end.atMs < atMs).length;

/** A machine that was lost is replaced. Otherwise each run prepares a source at most once, and a resume only one that failed. */
function preparedAgain(played: Played): string[] {
  const { record, plan, sources } = played;
  const isExact = actedOnly(played) && !sources.some(({ isActedOn }) => isActedOn);
  return sources.flatMap((source) => {
    const byRun = new Map<number, Prepared[]>();
    for (const one of source.prepared) {
      const run = Math.floor((one.generation - 1) / jobSettings.maxGenerations.default);
      byRun.set(run, [...(byRun.get(run) ?? []), one]);
    }
    return [...byRun].flatMap(([run, made]) => {
      const wasLost = ({ id, gone }: Prepared) =>
        gone === 'cancelled' || gone === 'reported' || record.traces.deleted.has(id);
      const kind = plan.sources?.of[source.at];
      // The batch obtains its own source at once, whether or not items need it.
      const isNeeded = kind === 'unready' || kind === 'batch';
      const most = run > 0 && isExact && !isNeeded ? 0 : 1;
      if (made.length <= most + made.filter(wasLost).length) return [];
      const names = made.map(({ name, state, gone }) => `${name} (${gone ?? state})`).join(', ');
      return [`${nameOf(played, source.at)} was prepared ${made.length} times in run ${run + 1}: ${names}`];
    });
  });
}

/** The calls with which the batch ends what it has prepared. It stops it before the first fork, too, if its job could not. */
function endsOf({ record, told }: Played, { prepared, calls }: Source): readonly CallOfWorld[] {
  const isFork = ({ call }: CallOfWorld) => call.endpoint === 'forkSandbox';
  const firstForkMs = calls.find(isFork)?.atMs ?? Number.POSITIVE_INFINITY;
  return record.calls.filter(
    ({ call, atMs }) =>
      call.workflowId === told.workflowId &&
      (call.endpoint === 'deleteSandbox' || (call.endpoint === 'stopSandbox' && atMs > firstForkMs)) &&
      prepared.some(({ id }) => id === call.sandboxId),
  );
}

/** A source has its place at least from its first call to its last one. */
function tooManyAtOnce(played: Played): string[] {
  const { record, plan, told, sources } = played;
  const spans = sources.flatMap((source) => {
    const isPreparing = ({ call }: CallOfWorld) => call.workflowId === `${told.workflowId}/${stepOf(plan, source.at)}`;
    const ofPreparation = record.calls.filter((one) => !one.call.isRead && isPreparing(one));
    const timesMs = [...ofPreparation, ...source.calls, ...endsOf(played, source)].map(({ atMs }) => atMs);
    return played.ends.flatMap((_, run) => {
      const inRunMs = timesMs.filter((atMs) => runAt(played, atMs) === run);
      return inRunMs.length === 0
        ? []
        : [{ at: source.at, fromMs: Math.min(...inRunMs), untilMs: Math.max(...inRunMs) }];
    });
  });
  const most = plan.sources?.atOnce ?? 1;
  return spans.flatMap(({ at, fromMs }) => {
    const open = spans.filter((one) => one.fromMs <= fromMs && fromMs < one.untilMs);
    if (open.length <= most) return [];
    const names = open.map((one) => nameOf(played, one.at)).join(', ');
    return [`when ${nameOf(played, at)} began, these were in use: ${names}, and only ${most} may be`];
  });
}

function endsWrongly(played: Played): string[] {
  const { record, plan, told, ends, sources } = played;
  const { traces } = record;
  return sources.flatMap((source) => {
    const name = nameOf(played, source.at);
    const ofBatch = endsOf(played, source);
    const how = endOfPrepared(plan, source.at);
    const deleted = ofBatch.find(({ call }) => call.endpoint === 'deleteSandbox');
    const wrong = how === 'stop' && deleted ? [`${name} was deleted, and not stopped`] : [];
    const left = source.prepared.filter(({ id, name: is, gone }) => {
      const isNamed = [id, is, traces.renamed.get(id)].some((one) => one !== undefined && told.left.includes(one));
      const isAnothers = traces.acted.has(id) || traces.resumed.has(id);
      return how === 'delete' && gone === null && !isNamed && !isAnothers;
    });
    const early = ends.flatMap(({ outcome }, run) => {
      // Then its items are cut short.
      if (outcome === 'cancelled' || outcome === 'deadline_exceeded' || outcome === 'source_failed') return [];
      const ofRun = ({ atMs }: CallOfWorld) => runAt(played, atMs) === run;
      const endMs = ofBatch.find(ofRun)?.atMs ?? Number.POSITIVE_INFINITY;
      const after = source.calls.filter((one) => ofRun(one) && one.atMs > endMs);
      // What a dead worker has sent may arrive twice.
      const counted = after.filter(({ call }) => call.endpoint === 'sendPrompt' || !didDie(record));
      return counted.slice(0, 1).map(({ call }) => `${name} was ended before ${call.endpoint} of ${call.workflowId}`);
    });
    return [...wrong, ...left.map(({ id, state }) => `${name} was not deleted: ${id} is ${state}`), ...early];
  });
}

function strayed(played: Played): string[] {
  const { record, plan, told, sources } = played;
  const forked = sources.flatMap(({ at, calls, forkable }) =>
    calls.flatMap(({ call }) =>
      call.endpoint === 'forkSandbox' && !forkable.has(call.sandboxId ?? '')
        ? [`${call.workflowId} of ${nameOf(played, at)} forked ${call.sandboxId}`]
        : [],
    ),
  );
  const begun = statesOf(plan, told.jobs).flatMap(({ source, state }) => {
    const isChanged = sources[source]?.isActedOn || isTaken(record, sources[source]);
    return isChanged || state === seedOf(plan, source)
      ? []
      : [`an item of ${nameOf(played, source)} began from "${state}"`];
  });
  return [...forked, ...begun];
}

const isTaken = ({ traces }: WorldRecord, source: Source | undefined) =>
  [...(source?.forkable ?? [])].some((id) => traces.taken.has(id));

/** True if nothing happened to the batch, but for people who acted on sandboxes. */
function actedOnly({ record, told }: Played): boolean {
  const hits = troublesOf(record, told.job).filter(({ kind }) => kind !== 'later');
  return !isEndOfAny(record) && !didDie(record) && hits.every(({ kind }) => kind === 'act');
}

function costsOthers(played: Played): string[] {
  return played.ends
    .flatMap((end, run) => [...unstarted(played, end), ...untrueError(played, end, run)])
    .concat(actedOnly(played) ? played.ends.flatMap((end, run) => endsOtherwise(played, end, run)) : []);
}

/** Items that were not started are those of sources that failed, unless the whole batch was ended. */
function unstarted({ plan }: Played, { outcome, items, sources }: BatchEnd): string[] {
  if (outcome !== 'partly_failed') return [];
  const without = new Set(
    items.flatMap((item) => (item.outcome === 'not_started' ? (sourceOfIndex(plan, item.index) ?? []) : [])),
  );
  const failed = sources?.failed ?? 0;
  return without.size > failed ? [`items of ${without.size} sources were not started, and ${failed} failed`] : [];
}

/** A batch whose sources failed by what happened to them does not say that a person has set something wrong, nor the reverse. */
function untrueError(played: Played, { outcome, error }: BatchEnd, run: number): string[] {
  const { record, plan, told } = played;
  if (error === null || outcome === 'completed' || isEndOfAny(record)) return [];
  const is = failureClassOf({ outcome, error });
  const says = `its error ${error.code} is a failure of ${is}: ${error.message}`;
  if (is === 'agent' || is === 'check' || is === 'provider') return [says];
  const hits = troublesOf(record, told.job);
  const isByPeople = hits.some(({ kind }) => kind === 'act' || kind === 'newcomer' || kind === 'message');
  const isSet = failingSources(plan, isMended(played, run)).length > 0 || isByPeople || hits.some(isRefusal);
  return is === 'setup' && !isSet ? [says] : [];
}

/** To sources on which nobody acted happens only what was planned. */
function endsOtherwise(played: Played, { outcome, error, items, sources: counts }: BatchEnd, run: number): string[] {
  const { record, plan, sources } = played;
  if (outcome === 'cancelled' || outcome === 'deadline_exceeded') return [];
  const failing = failingSources(plan, isMended(played, run));
  // The service must show which prompt is whose.
  const good: readonly string[] = record.plan.service.promptIds ? ['completed'] : ['completed', 'outcome_unknown'];
  const wrong = items.filter((item) => {
    const at = sourceOfIndex(plan, item.index) ?? -1;
    if (sources[at]?.isActedOn) return false;
    const meant = failing.includes(at) ? ['not_started'] : good;
    return !meant.includes(item.outcome) || (item.outcome === 'not_started' && item.failureClass != null);
  });
  const found = wrong.map(({ itemId, index, outcome: is, failureClass }) => {
    const of = nameOf(played, sourceOfIndex(plan, index) ?? -1);
    return `${itemId} of ${of} ended ${is} (${failureClass ?? 'no class'}) in run ${run + 1}`;
  });
  if (sources.some(({ isActedOn }) => isActedOn) || failing.length === 0) return found;
  const says = `${outcome}, ${error?.code}, ${counts?.failed} failed sources`;
  const isSaid =
    outcome === expectedOfSources(plan, isMended(played, run)) &&
    failing.some((at) => error?.code === failureCodes[plan.sources?.of[at] ?? '']) &&
    failureClassOf({ outcome, error }) === 'setup' &&
    counts?.failed === failing.length;
  return isSaid ? found : [...found, `run ${run + 1} says ${says}, and ${failing.length} fail`];
}

const failureCodes: Readonly<Record<string, string>> = { unready: 'command_failed', missing: 'sandbox_not_found' };

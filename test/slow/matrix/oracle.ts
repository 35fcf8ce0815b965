/** What must be true after every run by the records of the service, regardless of the result and the fault. */

import type { SandboxRecord } from '../../../local-service/src/store/sandbox-record.js';
import { isCreating, isUsable } from '../../../src/contract/workflow-safe/states.js';
import type { JobResult } from '../../../workflows/index.js';
import type { ProxiedCall } from './faults/fault-proxy.js';
import type { Ended, Prepared, Scenario } from './scenarios/scenario.js';
import type { World } from './world.js';

/** Where a run took place. */
export type Place = Pick<World, 'stand' | 'sourceId'>;

export interface Run {
  readonly scenario: Pick<Scenario, 'name' | 'makes' | 'keeps'>;
  readonly prepared: Omit<Prepared, 'workflowId' | 'isOf' | 'run'>;
  readonly ended: Ended;
  readonly calls: readonly ProxiedCall[];
  /** Sandboxes without a machine from the service, or deleted by somebody else. */
  readonly lostByOthers?: number;
  /** A sandbox that somebody else resumed: it may run. */
  readonly resumed?: string | null;
  /** True if others stopped or deleted a sandbox of the run, and so ended its prompts. */
  readonly isTaken?: boolean;
  /** Prompts of others during the run. */
  readonly othersPromptIds?: readonly string[];
}

/** Broken promises as sentences; empty if all are kept. */
export function brokenPromises(world: Place, given: Run): string[] {
  const { books } = world.stand.service;
  const own = books.sandboxes().filter(given.prepared.owns);
  const others = [...(given.prepared.othersPromptIds ?? []), ...(given.othersPromptIds ?? [])];
  const run = { ...given, othersPromptIds: others };
  return [
    ...tooMany(world, run, own),
    ...promptedTwice(world, run, own),
    ...touchedOthers(world, run, own),
    ...cutOthersPrompts(world, run, own),
    ...leaked(run, own),
    ...untrueEnds(run, own),
    ...run.ended.jobs.flatMap((job) => untruePrompts(world, run, job)),
  ];
}

function tooMany(_: Place, { scenario, prepared, lostByOthers = 0 }: Run, own: readonly SandboxRecord[]): string[] {
  const made = own.filter(({ id }) => !prepared.given.includes(id));
  const lost = made.filter(({ gone }) => gone === 'cancelled' || gone === 'reported').length;
  const most = scenario.makes + lost + lostByOthers + (scenario.name === 'batch-prepared' ? 1 : 0);
  return made.length > most ? [`${made.length} sandboxes were made: ${made.map(({ name }) => name).join(', ')}`] : [];
}

function promptedTwice({ stand }: Place, { othersPromptIds = [] }: Run, own: readonly SandboxRecord[]): string[] {
  const counts = new Map<string, number>();
  for (const { id } of own) {
    for (const { id: promptId, text } of stand.service.books.prompts({ sandboxId: id })) {
      if (!othersPromptIds.includes(promptId)) counts.set(text, (counts.get(text) ?? 0) + 1);
    }
  }
  return [...counts].flatMap(([text, count]) => (count > 1 ? [`prompted ${count} times: ${text}`] : []));
}

/** Only reads of sandboxes that are neither the run's own nor its source. */
function touchedOthers(world: Place, { calls, prepared: { sourceId } }: Run, own: readonly SandboxRecord[]): string[] {
  const ids = new Set(own.map(({ id }) => id));
  return calls.flatMap(({ isRead, endpoint, sandboxId }) => {
    const isFork = endpoint === 'forkSandbox' && sandboxId === (sourceId ?? world.sourceId);
    // A resumed source is stopped again, so that its state is what is forked.
    const isStop = endpoint === 'stopSandbox' && sandboxId === sourceId;
    const isOthers = !isRead && sandboxId !== null && !ids.has(sandboxId) && !isFork && !isStop;
    return isOthers ? [`${endpoint} of ${sandboxId}, which is somebody else's`] : [];
  });
}

/** In a sandbox that stays, prompts of others run to their end, or still run. */
function cutOthersPrompts({ stand }: Place, run: Run, own: readonly SandboxRecord[]): string[] {
  const { scenario, prepared, othersPromptIds = [], isTaken = false } = run;
  if (scenario.keeps !== true || isTaken) return [];
  const ofOthers = own
    .filter(({ id }) => prepared.given.includes(id))
    .flatMap(({ id }) => stand.service.books.prompts({ sandboxId: id }))
    .filter(({ id }) => othersPromptIds.includes(id));
  const isCut = ({ status }: { readonly status: string }) => status === 'interrupted' || status === 'failed';
  return ofOthers.filter(isCut).map(({ id, status }) => `the prompt ${id} of somebody else is ${status}`);
}

function leaked({ scenario, ended, prepared, resumed }: Run, own: readonly SandboxRecord[]): string[] {
  const isKept = scenario.keeps === true;
  return own.flatMap(({ id, name, state, gone }) => {
    const runs = gone === null && (isUsable(state) || state === 'error' || isCreating(state));
    const named = ended.left.includes(id) || ended.left.includes(name);
    // Only the sandbox in the result may be kept.
    const isMeant =
      isKept && (ended.jobs.length === 0 || ended.jobs.some(({ sandboxId }) => sandboxId === id) || given(id));
    return runs && !named && !isMeant && id !== resumed ? [`left ${state} and unnamed: ${id} (${name})`] : [];
  });
  function given(id: string): boolean {
    return prepared.given.includes(id);
  }
}

function untrueEnds({ ended, resumed }: Run, own: readonly SandboxRecord[]): string[] {
  const of = (id: string) => own.find((sandbox) => sandbox.id === id);
  return [
    ...ended.saysArchived.flatMap((id) => {
      const sandbox = of(id);
      if (!sandbox) return [`says that ${id} is archived, which is not its own`];
      return sandbox.state === 'archived' || sandbox.gone !== null || id === resumed
        ? []
        : [`says archived: ${id}, is ${sandbox.state}`];
    }),
    ...ended.saysDeleted.flatMap((id) => {
      const sandbox = of(id);
      return sandbox && sandbox.gone === null ? [`says deleted: ${id}, is ${sandbox.state}`] : [];
    }),
    ...ended.jobs.flatMap(({ stop, sandboxId }) => {
      const saved = sandboxId === null ? undefined : of(sandboxId);
      const isUntrue = stop?.kept === 'saved' && saved?.gone === null && saved.snapshotCompletedAt === null;
      return isUntrue ? [`says saved: ${sandboxId}, which has no snapshot`] : [];
    }),
  ];
}

function untruePrompts({ stand }: Place, { othersPromptIds = [] }: Run, job: JobResult): string[] {
  const { outcome, prompts, sandboxId } = job;
  const ofSandbox = sandboxId === null ? [] : stand.service.books.prompts({ sandboxId });
  return prompts.flatMap(({ prompt, promptId, status }, at) => {
    const real = ofSandbox.find(({ id, text }) => text === prompt && !othersPromptIds.includes(id));
    const said = `says prompt ${at} ${status}`;
    if (promptId !== null && othersPromptIds.includes(promptId)) return [`took somebody else's prompt ${promptId}`];
    if (status === 'completed' && real?.status !== 'completed') return [`${said}, is ${real?.status ?? 'not there'}`];
    if (status === 'not_sent' && real) return [`${said}, is ${real.status}`];
    const runsOn = real?.status === 'running' || real?.status === 'queued' || real?.status === 'completed';
    if (status === 'interrupted' && runsOn) return [`${said}, is ${real.status}`];
    if (outcome === 'completed' && status !== 'completed') return [`says completed with prompt ${at} ${status}`];
    return [];
  });
}

/** The sources that the items of a batch name, and what each of them is. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { itemIndexOf, sourceStep } from '../../../src/addresses/addresses.js';
import type { FanoutSource } from '../../../src/protocol/fanout/fanout-input.js';
import { type BatchPlan, type JobPlan, type SourceKind, worldEnvironment } from '../plan/plan.js';
import { type Account, archivedByPerson, madeByPerson, persist } from './account.js';

export const preparationDeadlineMs = 60_000;

/** @returns the place of its source in `sources.of` @param item its number as it is submitted */
export const sourceOf = ({ sources }: BatchPlan, item: number) => item % (sources?.of.length ?? 1);

/** The numbers of the items as they are submitted, in the order of the batch: items of one source stand together. */
export function itemsInOrder(plan: BatchPlan): readonly number[] {
  const items = Array.from({ length: plan.items }, (_, item) => item);
  return items.sort((one, other) => sourceOf(plan, one) - sourceOf(plan, other) || one - other);
}

/** @returns the place of its source in `sources.of`; undefined if the batch has no such item @param index its place in the batch */
export function sourceOfIndex(plan: BatchPlan, index: number): number | undefined {
  const item = itemsInOrder(plan)[index];
  return item === undefined ? undefined : sourceOf(plan, item);
}

/** The step in the name of what is prepared for a source. Items of one source fit into one chunk. */
export const stepOf = (plan: BatchPlan, source: number) =>
  plan.sources?.of[source] === 'batch' ? 'prep' : sourceStep(source);

const isPreparedKind = (kind: SourceKind) => kind === 'setup' || kind === 'environment' || kind === 'unready';
/** Whether the batch prepares a sandbox for the source. */
export function isPrepared({ source, sources }: BatchPlan, at: number): boolean {
  const kind = sources?.of[at] ?? 'batch';
  return isPreparedKind(kind) || (kind === 'batch' && source === 'prepare');
}
/** How what is prepared for the source ends. */
export const endOfPrepared = ({ sources }: BatchPlan, at: number) =>
  sources?.of[at] === 'batch' ? 'delete' : (sources?.end ?? 'delete');
export const isOfPerson = (kind: SourceKind) => !isPreparedKind(kind) && kind !== 'batch';

/** What an item shows of its source. */
export const seedOf = ({ key, sources }: BatchPlan, source: number) =>
  `source ${source} of ${key}${sources?.of[source] === 'environment' ? ` in ${worldEnvironment}` : ''}`;

/** The person's sandbox of each source, if there is one. @param given all sandboxes that the batch was given */
export function givenBySource(plan: BatchPlan, given: readonly string[]): readonly (string | undefined)[] {
  let next = 0;
  return (plan.sources?.of ?? []).map((kind) => {
    const isGiven = isOfPerson(kind) || (kind === 'batch' && plan.source !== 'prepare');
    if (!isGiven) return undefined;
    next += 1;
    return given[next - 1];
  });
}

/** The person's sandbox that the caller starts from: the holder of its snapshot, if it is an item of several sources. */
export function givenTo(plan: JobPlan | undefined, workflowId: string, given: readonly string[]): string | undefined {
  if (plan?.kind !== 'batch' || !plan.sources) return given[0];
  const index = itemIndexOf(workflowId);
  const source = index === undefined ? undefined : sourceOfIndex(plan, index);
  return source === undefined ? undefined : givenBySource(plan, given)[source];
}

const readyFile = (notes: string, key: string) => join(notes, `ready-${key}`);

/** From then on, no preparation of the batch fails. */
export function mendPreparations({ key }: BatchPlan, notes: string): void {
  writeFileSync(readyFile(notes, key), '');
}

/** Makes what a person has of a source that items name. */
export async function makeSource(
  account: Account,
  plan: BatchPlan,
  { at, kind }: { readonly at: number; readonly kind: SourceKind },
): Promise<string> {
  const { api, signal } = account;
  const name = `person-${plan.key}-${at}`;
  const seed = seedOf(plan, at);
  if (kind === 'usable') {
    const sandboxId = await madeByPerson(account, name);
    await persist(signal, () => api.writeFile(sandboxId, { path: 'seed', content: seed }));
    return sandboxId;
  }
  const sandboxId = await archivedByPerson(account, name, seed);
  if (kind === 'snapshot')
    await persist(signal, () => api.updateSandbox(sandboxId, { snapshotName: snapshotOf(plan, at) }));
  if (kind === 'missing') await persist(signal, () => api.deleteSandbox(sandboxId));
  return sandboxId;
}

const snapshotOf = ({ key }: BatchPlan, at: number) => `snapshot-of-${key}-${at}`;

/** What an item names as its source; undefined for that of the batch. @param given all sandboxes that the batch was given */
export function namedSource(
  plan: BatchPlan,
  item: number,
  { given, notes }: { readonly given: readonly string[]; readonly notes: string },
): FanoutSource | undefined {
  const at = sourceOf(plan, item);
  const kind = plan.sources?.of[at] ?? 'batch';
  if (kind === 'batch' || !plan.sources) return undefined;
  if (kind === 'snapshot') return { kind, from: snapshotOf(plan, at), body: {} };
  if (!isPreparedKind(kind))
    return { kind: 'sandbox', sandboxId: givenBySource(plan, given)[at] ?? '', allowStale: false };
  const isOfEnvironment = kind === 'environment';
  const seed = isOfEnvironment ? seedOf(plan, at).replace(worldEnvironment, '$PLACE') : seedOf(plan, at);
  return {
    kind: 'prepare',
    body: isOfEnvironment ? { environment: worldEnvironment } : {},
    put: [],
    commands: [
      ...(kind === 'unready' ? [`test -e ${readyFile(notes, plan.key)} || exit 4`] : []),
      `echo "${seed}" > seed`,
    ],
    prompts: [],
    deadlineMs: preparationDeadlineMs,
    end: plan.sources.end,
  };
}

/** The sources that fail, whatever happens. @param isMended whether a person has mended the preparations */
export function failingSources({ sources }: BatchPlan, isMended: boolean): readonly number[] {
  const fails = (kind: SourceKind) => kind === 'missing' || (kind === 'unready' && !isMended);
  return (sources?.of ?? []).flatMap((kind, at) => (fails(kind) ? [at] : []));
}

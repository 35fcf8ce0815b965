/** Checks all items before anything starts, and computes the maximum machine time. */

import { ItemsError, type ItemWish, type NamedAs } from '../../fanout/index.js';
import { defaultSourcesAtOnce } from '../../job-settings/batch-settings.js';
import type { FanoutItem, FanoutPolicy, FanoutSource } from '../../protocol/fanout/fanout-input.js';
import { longestMachineSeconds } from '../../protocol/fanout/longest-machine-seconds.js';
import { defaultCleanUpMs, freeRetries } from '../../protocol/limits.js';
import { bytesOf, headOf } from '../../protocol/stored-text.js';
import { parseFanoutItem, parseItemSource } from '../../workflow-client/fanouts/fanout-input.js';
import { itemToSubmit, tooManyChunks } from '../../workflow-client/fanouts/pack-items.js';
import { type PromptChoice, PromptChoices } from '../connect/check-wanted.js';
import { cutToWidth } from '../output/display-width.js';
import type { Notices } from '../output/reporter.js';
import { oneLine } from '../output/terminal-safe.js';
import { formatBytes, formatDuration, plural } from '../units.js';
import { UsageError } from '../usage-error.js';
import type { BatchSources } from './fanout-source.js';
import type { ItemFiles } from './results/item-files.js';

const shown = 3;

export interface Survey {
  readonly items: number;
  readonly prompts: number;
  readonly promptBytes: number;
  /** The first few items. */
  readonly first: readonly { readonly id: string; readonly prompt: string }[];
  /** How many items use a field as a setting, and how many as data although a setting has its name: as in `NamedAs`. */
  readonly namedAs: Readonly<Record<keyof NamedAs, Counts>>;
  /** The different choices of all prompts. */
  readonly choices: readonly PromptChoice[];
  /** Machine-seconds that the first attempts of all items reserve. */
  readonly mostSeconds: number;
  /** Machine-seconds that the items which run at once reserve at most. */
  readonly mostAtOnceSeconds: number;
  /** Machine-seconds that the smallest item reserves. */
  readonly leastSeconds: number;
  /** How many items the concurrency and the budget let run at once at most. */
  readonly atOnce: number;
  /** The different sources, without the files of their preparation. `item`: the first one that names its environment. */
  readonly sources: readonly (FanoutSource & { readonly item?: string })[];
  /** False if every item names another source than the batch. */
  readonly usesBatchSource: boolean;
}

type Counts = Readonly<Record<string, number>>;

export interface SurveyOptions {
  readonly policy: FanoutPolicy;
  /** True if long texts can go through a result store that the workers share. */
  readonly canKeep: boolean;
  readonly sources: BatchSources;
}

/** Takes the items one by one, so that their number is not limited by memory. */
export function createSurvey(
  files: Pick<ItemFiles, 'check'>,
  { policy, canKeep, sources }: SurveyOptions,
): {
  /** Checks an item, and counts it. @throws ItemsError, UsageError */
  add(item: ItemWish): Promise<void>;
  /** @throws UsageError if there are no items, or too many */
  result(): Survey;
} {
  const first: { id: string; prompt: string }[] = [];
  let [count, prompts, promptBytes, mostSeconds] = [0, 0, 0, 0];
  const choices = new PromptChoices();
  const namedAs: Record<keyof NamedAs, Record<string, number>> = { settings: {}, data: {}, commands: {} };
  /** How many items reserve how much: most items reserve the same. */
  const reservations = new Map<number, number>();
  const ofBatch = JSON.stringify(sources.batch);
  const found = new Map<string, { readonly source: Survey['sources'][number]; readonly items: number }>();
  return {
    async add(item) {
      await files.check(item);
      const { place, namedAs: _, put: __, source: ___, ...own } = item;
      const refuse = (why: string) => new ItemsError(place, `${why}.`);
      await (canKeep ? parseFanoutItem(own, 0, policy, refuse) : itemToSubmit(own, 0, { policy, refuse }));
      const source = sources.ofItem(item);
      if (item.source) parseItemSource(source, policy, refuse);
      const key = item.source ? JSON.stringify(source) : ofBatch;
      const named = item.source?.environment !== undefined && { item: item.id };
      const ofSource = found.get(key) ?? { source: { ...source, ...named }, items: 0 };
      found.set(key, { ...ofSource, items: ofSource.items + 1 });
      count += 1;
      choices.add(item.prompts, item.id);
      for (const use of ['settings', 'data', 'commands'] as const)
        for (const name of item.namedAs?.[use] ?? []) namedAs[use][name] = (namedAs[use][name] ?? 0) + 1;
      prompts += item.prompts.length;
      promptBytes += item.prompts.reduce((sum, { prompt }) => sum + bytesOf(prompt), 0);
      const seconds = reservedSeconds(item, policy, source);
      reservations.set(seconds, (reservations.get(seconds) ?? 0) + 1);
      mostSeconds += seconds;
      if (first.length < shown) first.push({ id: item.id, prompt: headOf(item.prompts[0]?.prompt ?? '', 500) });
    },
    result() {
      if (count === 0) throw new UsageError('The input contains no items. Check the files and --format.');
      const problem = tooManyChunks([...found.values()].map((one) => one.items));
      if (problem) throw new UsageError(problem);
      const mostAtOnceSeconds = largestSum(reservations, policy.concurrency);
      const leastSeconds = Math.min(...reservations.keys());
      const atOnce = Math.min(policy.concurrency, count, mostWithin(reservations, policy.budgetSeconds ?? Infinity));
      const sums = { promptBytes, mostSeconds, mostAtOnceSeconds, leastSeconds };
      const all = [...found.values()].map(({ source }) => source);
      const ofSources = { sources: all, usesBatchSource: found.has(ofBatch) };
      return { items: count, prompts, first, namedAs, choices: choices.all, atOnce, ...sums, ...ofSources };
    },
  };
}

/** Machine-seconds that one attempt of an item reserves. */
export function reservedSeconds(
  item: Pick<FanoutItem, 'type' | 'deadlineMs'>,
  policy: Pick<FanoutPolicy, 'type' | 'itemDeadlineMs'>,
  source: FanoutSource,
): number {
  const ofSource = source.kind === 'sandbox' ? undefined : source.body.type;
  const type = item.type ?? policy.type ?? ofSource ?? 'default';
  return longestMachineSeconds(type, item.deadlineMs ?? policy.itemDeadlineMs);
}

/** How many sources the batch needs, and the machine-seconds that their preparation takes at most. */
export function sourcePlan({ sources }: Survey, { sourcesAtOnce = defaultSourcesAtOnce }: FanoutPolicy) {
  const prepared = sources.flatMap((source) => (source.kind === 'prepare' ? [source] : []));
  const seconds = prepared.map(({ body, deadlineMs }) => longestMachineSeconds(body.type ?? 'default', deadlineMs));
  return {
    count: sources.length,
    prepared: prepared.length,
    atOnce: Math.min(sources.length, sourcesAtOnce),
    mostMachineSeconds: seconds.reduce((sum, one) => sum + one, 0),
  };
}

/** How many forks the batch starts at most, and their machine-seconds, with the tries that cost no retry. */
export function mostOfBatch({ items, mostSeconds }: Survey, { retries }: Pick<FanoutPolicy, 'retries'>) {
  const tries = retries + 1 + freeRetries;
  return { mostForks: items * tries, mostMachineSeconds: mostSeconds * tries };
}

function largestSum(reservations: ReadonlyMap<number, number>, atOnce: number): number {
  let [sum, room] = [0, atOnce];
  for (const [seconds, count] of [...reservations].sort(([a], [b]) => b - a)) {
    const taken = Math.min(room, count);
    sum += taken * seconds;
    room -= taken;
  }
  return sum;
}

/** How many items fit into a budget at once if the smallest are taken. */
function mostWithin(reservations: ReadonlyMap<number, number>, budgetSeconds: number): number {
  let [items, room] = [0, budgetSeconds];
  for (const [seconds, count] of [...reservations].sort(([a], [b]) => a - b)) {
    const taken = Math.min(count, Math.floor(room / seconds));
    items += taken;
    room -= taken * seconds;
  }
  return items;
}

/** Says which names of settings the items use as such, and which they do not. What runs is said even when quiet. */
export function sayNamedAs({ namedAs: { settings, data, commands } }: Survey, notices: Pick<Notices, 'notice'>): void {
  const say = (what: string, counts: Counts, weight: 'warning' | 'detail', way: string) => {
    const names = Object.entries(counts).map(([name, count]) => `${name} (${plural(count, 'item')})`);
    if (names.length > 0) notices.notice(`Columns used as ${what}: ${names.join(', ')}.${way}`, weight);
  };
  say('commands that run in sandboxes', commands, 'warning', ' Rename one that is data.');
  const others = Object.entries(settings).filter(([name]) => !(name in commands));
  say('settings', Object.fromEntries(others), 'detail', ' Rename one that is data.');
  say('data, not as settings', data, 'detail', '');
}

/** The lines that `--dry-run` prints. @param width width of the terminal, in columns */
export function surveyLines(
  survey: Survey,
  { policy, freshSource }: { readonly policy: FanoutPolicy; readonly freshSource: string | null },
  width: number,
): string[] {
  const { items, prompts, promptBytes, first, mostSeconds, mostAtOnceSeconds, atOnce } = survey;
  const attempts = policy.retries + 1;
  const mostAsked = mostSeconds * attempts;
  const { count, prepared, ...plan } = sourcePlan(survey, policy);
  const preparation = `${plural(prepared, 'source')} to prepare, in at most ${machineTime(plan.mostMachineSeconds)} of machine time, which no budget counts.`;
  return [
    `${plural(items, 'item')} with ${plural(prompts, 'prompt')}, ${formatBytes(promptBytes)}:`,
    ...first.map(({ id, prompt }) => cutToWidth(`  ${oneLine(id)}  ${oneLine(prompt.trim())}`, width - 1)),
    ...(items > first.length ? [`  … and ${items - first.length} more`] : []),
    ...(freshSource === null ? [] : [freshSource]),
    `Up to ${atOnce < Math.min(policy.concurrency, items) ? `${atOnce} at once, because the budget covers no more` : `${policy.concurrency} at once`}, each with a deadline of ${formatDuration(policy.itemDeadlineMs)}. ${endTexts[policy.end]}.`,
    `${plural(count, 'source')}${count > 1 ? `, at most ${plan.atOnce} at once` : ''}; at most ${plural(items * attempts, 'fork')}, and ${items * freeRetries} more if a machine, the service or sandflow fails.`,
    ...(prepared === 0 ? [] : [preparation]),
    `Machine time reserved at once: at most ${machineTime(mostAtOnceSeconds)}. Each fork reserves ${formatDuration(defaultCleanUpMs)} beyond its deadline for its end.`,
    `Machine time in total: at most ${machineTime(mostAsked)}${attempts > 1 ? ` with ${plural(attempts, 'attempt')} each` : ''}, and ${machineTime(mostSeconds * freeRetries)} more for such failures.`,
    policy.budgetSeconds === null
      ? 'No budget. Set one with --budget, like --budget 10h.'
      : `The batch cannot exceed its budget of ${machineTime(policy.budgetSeconds)}${policy.budgetSeconds < mostAsked ? ': items that do not fit are not started' : ''}.`,
    'Nothing was started.',
  ];
}

const endTexts = {
  stop: 'Each fork is stopped and archived when its item ends',
  delete: 'Each fork is deleted when its item ends',
  keep: 'Each fork keeps running until its auto-stop',
} as const;

function machineTime(seconds: number): string {
  return formatDuration(seconds * 1_000);
}

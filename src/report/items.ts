/** The items: a row each, with its details folded. */
import type { ItemResult, ItemTimes } from '../protocol/fanout/fanout-result.js';
import type { CollectedFile } from '../protocol/job/job-result.js';
import { lastDrawn } from '../texts/terminal-text.js';
import { lineOf, maxDetailedItems, maxDetailsBytes, maxTextLength, type Room } from './bounded-text.js';
import { roundDetails, roundMarks, roundsOf } from './checks.js';
import { failureOf } from './failures.js';
import { endOfSandbox, leftSentence } from './left-words.js';
import { addressPart, html, link, type Markup } from './markup.js';
import { bytesText, countOf, countText, durationText, machineText, timeText } from './numbers.js';
import { classChip, outcomeBadge } from './outcome-styles.js';

const maxLabels = 24;
const maxFiles = 200;
const maxLeft = 10;

export type PageItem = Readonly<ReturnType<typeof pageItem>>;

/**
 * What the page keeps of an item.
 * @param startMs start of the newest run of the batch, in ms since the epoch
 * @param details null if there is no room for them
 */
export function pageItem(item: ItemResult, startMs: number, details: Markup | null) {
  const { forkedAt, endedAt, endingAt } = item.times;
  // The times may come from the clocks of two machines.
  const durationMs = Math.max(0, Date.parse(endedAt ?? endingAt ?? '') - Date.parse(forkedAt ?? ''));
  const labels = Object.entries(item.labels).slice(0, maxLabels);
  return {
    /** Place in the batch, from 0. */
    index: item.index,
    id: lineOf(item.itemId),
    // A newer version may know others.
    outcome: item.outcome as string,
    failureClass: item.failureClass ?? null,
    generation: item.generation,
    labels: Object.fromEntries(labels.map(([name, value]) => [lineOf(name), lineOf(value)])),
    /** The beginning of its first prompt. */
    prompt: lineOf(item.job?.prompts[0]?.prompt ?? ''),
    /** Why it failed, in one line; empty if it did not. */
    error: lineOf(failureOf(item)?.message ?? ''),
    /** Whether its checks passed in each round; empty without checks. */
    rounds: roundsOf(item.job?.rounds),
    /** From the fork to its end; null if the item was never forked, or if the end is unknown. */
    durationMs: Number.isNaN(durationMs) ? null : durationMs,
    machineSeconds: item.machineSeconds,
    /** True if it ended before the newest run of a resumed batch began. */
    isEarlier: endedInEarlierRun(item, startMs),
    details,
  };
}

/** The place of an item in the page, and its name there. The address of the page with this place opens the item. */
export function placeOf(id: string): readonly [string, string] {
  return [`#${addressPart(id)}`, id];
}

/**
 * True if the item ended before the newest run of its batch began. Its counts and machine time then belong to an
 * earlier run. False for an item that was not started.
 * @param runStartMs start of the newest run, in ms since the epoch
 */
export function endedInEarlierRun({ times }: Pick<ItemResult, 'times'>, runStartMs: number): boolean {
  const known = Object.values(times).flatMap((time) => {
    const at = Date.parse(time ?? '');
    return Number.isNaN(at) ? [] : [at];
  });
  return known.length > 0 && Math.max(...known) < runStartMs;
}

/** The rows in the order of the batch. @returns null if there are none */
export function itemsSection(items: readonly PageItem[]): Markup | null {
  if (items.length === 0) return null;
  const bare = items.filter(({ details }) => details === null).length;
  const left = `${countOf(bare, 'item has', 'items have')} no details here: the page has those of ${countText(maxDetailedItems)} completed and ${countText(maxDetailedItems)} other items at most, with ${bytesText(maxDetailsBytes)} of texts each.`;
  return html`<section><h2>Items</h2><p class="note">${bare > 0 ? `${left} ` : null}A text is cut at ${countText(maxTextLength)} characters. results.jsonl has every item and the whole texts.</p>
<div class="row head"><span class="number">#</span><span>Item</span><span>Outcome</span><span class="number">Took</span><span class="number">Machine</span><span>Error or prompt</span></div>
<ol class="items">${items.map(itemRow)}</ol></section>`;
}

function itemRow(item: PageItem): Markup {
  const took = item.durationMs === null ? '–' : durationText(item.durationMs);
  const tries = item.generation > 1 ? html` <span class="note">try ${item.generation}</span>` : null;
  const whose = item.error === '' || item.failureClass === null ? null : html` ${classChip(item.failureClass)}`;
  const about = html`<span class="${item.error === '' ? 'note' : 'error'}" dir="auto">${item.error || item.prompt}</span>`;
  const row = html`<span class="number">${item.index + 1}</span><bdi>${item.id}</bdi><span>${outcomeBadge(item.outcome)}${whose}${roundMarks(item.rounds)}${tries}</span><span class="number">${took}</span><span class="number">${machineText(item.machineSeconds, null)}</span>${about}`;
  // A browser opens the details around the place that an address names.
  return item.details === null
    ? html`<li><div class="row" id="${item.id}">${row}</div></li>\n`
    : html`<li><details><summary class="row">${row}</summary><div class="details" id="${item.id}">${item.details}</div></details></li>\n`;
}

export interface DetailsContext {
  readonly room: Room;
  /** Beginnings of collected text files, by their reference in the result store. */
  readonly previews: ReadonlyMap<string, string>;
  /** Where the files of the item are saved, relative to the page, by their remote path. */
  readonly saved: ReadonlyMap<string, string>;
  /** Address of the item's workflow in Temporal's UI; null if unknown. */
  readonly workflowUrl: string | null;
  readonly dollarsPerSecond: number | null;
}

/** What the page shows of an item when it is opened. */
export function itemDetails(
  item: ItemResult,
  { room, workflowUrl, dollarsPerSecond, ...where }: DetailsContext,
): Markup {
  const { job, unreadable, earlier = [] } = item;
  const error = unreadable === undefined ? job?.error : { code: 'result_of_other_version', message: unreadable };
  const several = (job?.prompts.length ?? 0) > 1;
  const prompts = (job?.prompts ?? []).map((prompt, at) => {
    const number = several ? ` ${at + 1}` : '';
    const answer = prompt.result === null ? null : room.block(lastDrawn(prompt.result));
    const whole = prompt.resultRef === null ? null : html`<p class="note">The whole answer is in results.jsonl.</p>`;
    return html`<h3>Prompt${number}</h3>${room.block(prompt.prompt)}
<h3>Answer${number} <span class="note">${lineOf(prompt.status).replaceAll('_', ' ')}</span></h3>${answer ?? html`<p class="note">No answer.</p>`}${whole}${prompt.error === null ? null : html`<div class="error">${room.block(prompt.error)}</div>`}`;
  });
  const files = job?.files ?? [];
  const moreFiles = files.length - maxFiles;
  const tries = earlier.map(({ generation, outcome, machineSeconds, sandboxId, prompt, error: why }) => {
    const sandbox = sandboxId === null ? null : html`, <bdi>${lineOf(sandboxId)}</bdi>`;
    return html`<h3>Try ${generation} ${outcomeBadge(outcome)} <span class="note">${machineText(machineSeconds, dollarsPerSecond)}${sandbox}</span></h3>${prompt === null ? null : room.block(prompt)}${why === null ? null : html`<div class="error">${room.block(why)}</div>`}`;
  });
  return html`${error ? html`<div class="error"><p><code>${lineOf(error.code)}</code></p>${room.block(error.message)}</div>` : null}${(job?.left ?? []).slice(0, maxLeft).map((one) => html`<p class="alert">${lineOf(leftSentence(one))}</p>`)}${prompts}
${roundDetails(job?.rounds ?? [], room)}${files.length === 0 ? null : html`<h3>Files</h3><ul>${files.slice(0, maxFiles).map((file) => fileEntry(file, where, room))}</ul>`}${moreFiles > 0 ? html`<p class="note">${countOf(moreFiles, 'more file is', 'more files are')} in results.jsonl.</p>` : null}
${tries}<h3>Facts</h3>${factsList([
    ...Object.entries(item.labels),
    ...timesOf(item.times),
    ['Sandbox', job?.sandboxId ?? 'none'],
    ['Name', job?.sandboxName ?? 'none'],
    ['Fork', (job && endOfSandbox(job)) ?? (job?.sandboxId ? 'kept' : 'not forked')],
    ['Machine', `${item.type}, ${machineText(item.machineSeconds, dollarsPerSecond)}`],
    ['API calls', String(job?.apiCalls ?? 0)],
    ...(workflowUrl === null ? [] : [['Workflow', link(workflowUrl, 'open in Temporal')] as const]),
  ])}`;
}

/** Names and values; the values of others are shown in one line. */
export function factsList(facts: readonly (readonly [string, string | Markup])[]): Markup {
  return html`<dl>${facts.map(([name, value]) => html`<div><dt>${lineOf(name)}</dt><dd>${typeof value === 'string' ? html`<bdi>${lineOf(value)}</bdi>` : value}</dd></div>`)}</dl>`;
}

function timesOf(times: ItemTimes): [string, string][] {
  const names: readonly (readonly [string, keyof ItemTimes])[] = [
    ['Forked', 'forkedAt'],
    ['Usable', 'usableAt'],
    ['Prompted', 'promptedAt'],
    ['Answered', 'answeredAt'],
    ['Ended', 'endedAt'],
  ];
  return names.flatMap(([name, time]): [string, string][] => {
    const at = times[time];
    return at === null ? [] : [[name, timeText(at)]];
  });
}

/**
 * Names of files that a browser shows as text or as an image. The page links to no other file. A browser would run
 * the scripts of an HTML file from an agent. Only known names are allowed, because browsers treat many names as pages
 * (`.shtml`, `.atom`, `.xht`).
 */
const shownAsTextOrImage =
  /\.(?:txt|text|log|md|markdown|json|jsonl|ndjson|csv|tsv|ya?ml|toml|ini|diff|patch|png|jpe?g|gif|webp|avif)$/i;

function fileEntry(
  file: CollectedFile,
  { previews, saved }: Pick<DetailsContext, 'previews' | 'saved'>,
  room: Room,
): Markup {
  const { path, size, error, ref } = file;
  const place = saved.get(path);
  const name =
    place !== undefined && shownAsTextOrImage.test(place)
      ? link(place.split('/').map(addressPart).join('/'), lineOf(path))
      : html`<bdi>${lineOf(path)}</bdi>`;
  const marks = fileMarks(file);
  const about = error ?? `${size === null ? '' : bytesText(size)}${marks === '' ? '' : ` (${marks})`}`;
  const preview = ref === null ? undefined : previews.get(ref);
  return html`<li>${name} <span class="${error === null ? 'note' : 'error'}">${lineOf(about)}</span>${preview === undefined ? null : room.block(preview)}</li>`;
}

/** What is said of a collected file beside its size. */
function fileMarks({ ref, partial, unchanged, diff }: CollectedFile): string {
  const changed = diff?.outcome === 'no_changes' ? 'no changes' : 'unchanged';
  const marks = [...(ref !== null && partial ? ['partial'] : []), ...(unchanged ? [changed] : [])];
  return [marks.join(', '), ...(diff?.notes ?? [])].filter((text) => text !== '').join('. ');
}

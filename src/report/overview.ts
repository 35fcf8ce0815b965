/** The head of the page: what the batch is, how it ended, what it left behind, and the outcomes of its items. */
import { jobWorkflowId } from '../addresses/addresses.js';
import type { FanoutProgress } from '../protocol/fanout/fanout-progress.js';
import type { FanoutResult } from '../protocol/fanout/fanout-result.js';
import { endText } from '../protocol/shortfall.js';
import { withoutEndSlashes } from '../texts/urls.js';
import { lineOf } from './bounded-text.js';
import { factsList, type PageItem } from './items.js';
import { addressPart, html, link, type Markup } from './markup.js';
import {
  budgetText,
  countOf,
  countText,
  durationText,
  machineText,
  medianText,
  shareText,
  sum,
  timeText,
} from './numbers.js';
import { knownOutcomes, outcomeBadge, outcomeWord } from './outcome-styles.js';
import { plainText } from './plain-text.js';

export interface ReportContext {
  /** List price of a machine-second. Default: unknown; the page then shows no amounts of money. */
  readonly dollarsPerSecond?: number | null;
  /** Where Temporal's UI is. Default: unknown; the page then has no links to workflows. */
  readonly ui?: { readonly url: string; readonly namespace: string; readonly deployment: string } | null;
}

export interface Overview {
  readonly result: FanoutResult | FanoutProgress;
  readonly items: readonly PageItem[];
  /** ISO 8601. */
  readonly generatedAt: string;
  readonly context: ReportContext;
}

export function header({ result, items, generatedAt, context }: Overview): Markup {
  const { dollarsPerSecond = null, ui } = context;
  const { counts, budget, shortfall } = result;
  const outcome = result.outcome ?? 'still running';
  const word = plainText(endText({ outcome: outcomeWord(outcome), shortfall }));
  const badge = outcomeBadge(outcome, { word, ...(shortfall !== null && outcome === 'completed' && { tone: 'warn' }) });
  const earlier = items.filter(({ isEarlier }) => isEarlier).length;
  const batchUrl = workflowUrl(ui, (deployment) => jobWorkflowId(deployment, result.batchId));
  const batchId = lineOf(result.batchId);
  // The batch does not count attempts of earlier runs; the items do.
  const retried = Math.max(counts.retried, sum(items.map(({ generation }) => Math.max(0, generation - 1))));
  const facts: readonly (readonly [string, string | Markup])[] = [
    ['Batch', batchUrl === null ? batchId : link(batchUrl, batchId)],
    // Forks of a snapshot have no source sandbox.
    ...(result.sourceSandboxId === null ? [] : [['Source', result.sourceSandboxId] as const]),
    [earlier > 0 ? 'This run started' : 'Started', timeText(result.startedAt)],
    [result.outcome ? 'Took' : 'Running for', durationText(Math.max(0, endOf(result, generatedAt)))],
    ['Items', `${countOf(counts.items, 'item', 'items')}${result.sealed ? '' : ', more to come'}`],
    ['Machine time', machineText(budget.spentSeconds, dollarsPerSecond)],
    ...(budget.reservedSeconds > 0
      ? [['Reserved for running items', machineText(budget.reservedSeconds, dollarsPerSecond)] as const]
      : []),
    ['Budget', budget.limitSeconds === null ? 'none' : budgetText(budget.limitSeconds)],
    ['Retries', countText(retried)],
    ...('apiCalls' in result ? [['API calls', countText(result.apiCalls)] as const] : []),
  ];
  const resumed = `The batch was resumed: ${countOf(earlier, 'item', 'items')} ended in an earlier run. Length and calls are those of the newest run; outcomes, machine time and retries are those of all runs.`;
  return html`<header><h1 dir="auto">${titleOf(result)}</h1><p><strong>${badge}</strong></p>
${alerts(result)}${factsList(facts)}${earlier > 0 ? html`<p class="note">${resumed}</p>` : null}<p class="note">Created ${timeText(generatedAt)}.${dollarsPerSecond === null ? null : ' Amounts are the list price of the service for this month.'}</p></header>`;
}

export function titleOf({ title, batchId }: Overview['result']): string {
  return plainText(title ?? batchId);
}

/** The length of the newest run, in ms: until its end or, while it runs, until the page is created. */
function endOf(result: Overview['result'], generatedAt: string): number {
  if ('durationMs' in result) return result.durationMs;
  return Date.parse(result.outcome === null ? generatedAt : result.since) - Date.parse(result.startedAt);
}

function alerts({ error, blocked, throttledUntil }: Overview['result']): Markup[] {
  const texts: string[] = [];
  if (error) texts.push(`${error.code}: ${error.message}`);
  if (blocked) texts.push(`Waiting since ${timeText(blocked.since)}: ${blocked.message}`);
  if (throttledUntil) texts.push(`The service throttles forks until ${timeText(throttledUntil)}.`);
  return texts.map((text) => html`<p class="alert" dir="auto">${plainText(text)}</p>`);
}

/**
 * Address of a workflow in Temporal's UI.
 * @returns null if there is no UI, or if its address is not an `http` or `https` URL
 */
export function workflowUrl(ui: ReportContext['ui'], workflowId: (deployment: string) => string): string | null {
  if (!ui || !/^https?:\/\//i.test(ui.url)) return null;
  const path = ['namespaces', ui.namespace, 'workflows', workflowId(ui.deployment)].map(addressPart).join('/');
  return `${withoutEndSlashes(ui.url)}/${path}`;
}

const leftShown = 50;

/** @param left what may still run or exist, in sentences @returns null if there is nothing */
export function leftSection(left: readonly string[]): Markup | null {
  if (left.length === 0) return null;
  const more =
    left.length > leftShown
      ? html`<p class="note">${countText(left.length - leftShown)} more are in results.jsonl.</p>`
      : null;
  const entries = left.slice(0, leftShown).map((text) => html`<li dir="auto">${lineOf(text)}</li>`);
  return html`<section><h2>Left behind</h2><p class="alert">${countOf(left.length, 'leftover needs', 'leftovers need')} attention.</p><ul>${entries}</ul>${more}</section>`;
}

/** @returns null for a batch without items */
export function outcomesSection({ result, items, context }: Overview): Markup | null {
  const { counts } = result;
  const { dollarsPerSecond = null } = context;
  const byOutcome: Readonly<Record<string, number>> = counts.byOutcome;
  const open = counts.queued + counts.running;
  const rows = [...new Set([...knownOutcomes, ...items.map(({ outcome }) => outcome)])].flatMap((outcome) => {
    const own = items.filter((item) => item.outcome === outcome);
    const count = Math.max(own.length, byOutcome[outcome] ?? 0);
    const seconds = sum(own.map(({ machineSeconds }) => machineSeconds));
    const median = medianText(own.map(({ durationMs }) => durationMs));
    return count === 0 ? [] : [row(outcomeBadge(outcome), count, median, seconds)];
  });
  if (open > 0) rows.push(row(outcomeBadge('queued or running'), open, '–', 0));
  if (rows.length === 0) return null;
  return html`<section><h2>Outcomes</h2><table><thead><tr><th scope="col">Outcome</th><th scope="col" class="number">Items</th><th scope="col" class="number">Share</th><th scope="col" class="number">Median</th><th scope="col" class="number">Machine time</th></tr></thead><tbody>${rows}</tbody></table></section>`;

  function row(badge: Markup, count: number, median: string, seconds: number): Markup {
    return html`<tr><th scope="row">${badge}</th><td class="number">${countText(count)}</td><td class="number">${shareText(count, Math.max(counts.items, count))}</td><td class="number">${median}</td><td class="number">${seconds > 0 ? machineText(seconds, dollarsPerSecond) : '–'}</td></tr>`;
  }
}

/** Groups the items that failed by the code of their error, and within a code by their message. */
import type { ItemResult } from '../protocol/fanout/fanout-result.js';
import { failureClasses } from '../protocol/result-error-codes.js';
import { html, link, type Markup } from './markup.js';
import { barsTable, countOf, countText } from './numbers.js';
import { classChip, outcomeBadge, outcomeWord } from './outcome-styles.js';
import { plainText } from './plain-text.js';

export type FailedItem = NonNullable<ReturnType<typeof failureOf>>;
export type FailureGroup = ReturnType<typeof failureGroups>[number];
/** Items that failed with the same code and message. */
export type FailureReason = FailureGroup['reasons'][number];

/** Items with these outcomes neither succeeded nor failed: the batch or a person ended them early. */
const undecided: ReadonlySet<string> = new Set(['cancelled', 'not_started']);
const maxMessageLength = 1_000;
const reasonsShown = 5;
const idsShown = 6;

/** True if an item ended by itself, with a success or a failure. */
export function isDecided({ outcome }: { readonly outcome: string }): boolean {
  return !undecided.has(outcome);
}

/** What the job of an item says about its failure, or why it is unknown; empty or missing if nothing does. */
export function reasonOf({ job, unreadable }: Pick<ItemResult, 'job' | 'unreadable'>): string | null | undefined {
  return unreadable ?? job?.error?.message ?? job?.prompts.find(({ error }) => error !== null)?.error;
}

/** @returns null if the item did not fail */
export function failureOf(item: ItemResult) {
  const { itemId, outcome, job, unreadable } = item;
  if (outcome === 'completed' || !isDecided(item)) return null;
  // Its outcome, if it has no code.
  const code = unreadable === undefined ? (job?.error?.code ?? outcome) : 'result_of_other_version';
  const message = reasonOf(item) || `It ended as ${outcomeWord(outcome)}, without a message.`;
  // Results of earlier versions do not tell.
  const failureClass: string = item.failureClass ?? 'unknown';
  return { itemId, outcome: outcome as string, code, message: message.slice(0, maxMessageLength), failureClass };
}

/** The groups, largest first, and in each the most frequent reason first. */
export function failureGroups(failed: readonly FailedItem[]) {
  return groupedBy(failed, ({ code }) => code).map((items) => ({
    code: items[0]?.code ?? '',
    outcome: items[0]?.outcome ?? '',
    count: items.length,
    reasons: groupedBy(items, ({ message }) => message).map((own) => ({ message: own[0]?.message ?? '', items: own })),
  }));
}

function groupedBy(items: readonly FailedItem[], keyOf: (item: FailedItem) => string): FailedItem[][] {
  const groups = new Map<string, FailedItem[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group) group.push(item);
    else groups.set(keyOf(item), [item]);
  }
  return [...groups.values()].sort((a, b) => b.length - a.length);
}

/** How many are of each class, in the order in which classes are shown everywhere. */
function classRows(reasons: readonly FailureReason[]) {
  const own = reasons.flatMap(({ items }) => items.map(({ failureClass }) => failureClass));
  return [...new Set([...failureClasses.filter((one) => own.includes(one)), ...own])].map((one) => ({
    name: classChip(one),
    count: own.filter((other) => other === one).length,
  }));
}

/** @param hrefOf the place of an item in the page @returns null if nothing failed */
export function failuresSection(
  groups: readonly FailureGroup[],
  hrefOf: (itemId: string) => readonly [string, string],
): Markup | null {
  if (groups.length === 0) return null;
  const rows = groups.map(({ code, outcome, count, reasons }) => {
    const own = classRows(reasons);
    const classes = own.map((one) => html`${one.name} ${own.length > 1 ? countText(one.count) : null} `);
    const more = reasons.length - reasonsShown;
    const shown = reasons.slice(0, reasonsShown).map(({ message, items }) => {
      const ids = items
        .slice(0, idsShown)
        .map(({ itemId }, at) => html`${at > 0 ? ', ' : null}${link(...hrefOf(itemId))}`);
      const rest = items.length > idsShown ? ` and ${countText(items.length - idsShown)} more` : null;
      return html`<p class="message" dir="auto">${plainText(message)}</p><p class="note">${countText(items.length)}: ${ids}${rest}</p>`;
    });
    return html`<tr><td class="number">${countText(count)}</td><th scope="row">${outcomeBadge(outcome)}<br><code>${plainText(code)}</code><br>${classes}</th><td>${shown}${more > 0 ? html`<p class="note">${countOf(more, 'more message is', 'more messages are')} in the rows of the items.</p>` : null}</td></tr>`;
  });
  return html`<section><h2>Failures</h2>${barsTable('Whose failure', classRows(groups.flatMap(({ reasons }) => reasons)))}<table><thead><tr><th scope="col" class="number">Items</th><th scope="col">Error</th><th scope="col">Messages</th></tr></thead><tbody>${rows}</tbody></table></section>`;
}

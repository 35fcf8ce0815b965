/** The section that lists the failures, grouped by reason. */

import { countOf, countText } from '../../format.js';
import { html, type Markup } from '../../markup.js';
import { outcomeBadge, styleOf } from '../../outcome-styles.js';
import type { FailureGroup } from '../failures.js';

const groupsShown = 20;
const idsShown = 6;

/** @returns null if nothing failed */
export function failuresSection(groups: readonly FailureGroup[]): Markup | null {
  if (groups.length === 0) return null;
  const items = groups.reduce((count, group) => count + group.items.length, 0);
  const more = groups.length - groupsShown;
  return html`<section class="card" id="failures" aria-labelledby="failures-title"><h2 id="failures-title">Failures <span class="note">${countOf(items, 'item', 'items')}, ${countOf(groups.length, 'reason', 'reasons')}</span></h2>
<ol class="failures">${groups.slice(0, groupsShown).map(groupEntry)}</ol>${more > 0 ? html`<p class="note">${countOf(more, 'more reason is', 'more reasons are')} in the table of items.</p>` : null}</section>`;
}

function groupEntry({ outcome, message, isSame, items }: FailureGroup, group: number): Markup {
  const ids = items.slice(0, idsShown).map(({ id }, at) => html`${at > 0 ? ', ' : null}<bdi>${id}</bdi>`);
  const rest = items.length > idsShown ? ` and ${countText(items.length - idsShown)} more` : '';
  return html`<li><strong class="count">${countText(items.length)}</strong>
<div class="reason">${outcomeBadge(styleOf(outcome))}
<p class="message" dir="auto">${message}</p><p class="note">${isSame ? null : 'Ids and numbers in the reason differ. '}${ids}${rest}</p></div>
<button type="button" data-failure="${group}">${items.length === 1 ? 'Open' : 'Show'}</button></li>`;
}

/**
 * The items: the table and the dialogs that the page's script fills, and a plain table for browsers that run no scripts.
 */

import { durationText, machineText } from '../../format.js';
import { html, type Markup } from '../../markup.js';
import { styleOf } from '../../outcome-styles.js';
import type { PageItem } from '../../page-data.js';

/** Hidden if there are no items, because the page's script needs its elements. */
export function itemsSection(items: readonly PageItem[]): Markup {
  return html`<section class="card" id="items"${items.length > 0 ? null : html` hidden`} aria-labelledby="items-title"><h2 id="items-title">Items</h2>
<div id="browse" hidden><div class="filters"><label class="search"><span class="hidden-text">Filter by text</span><input id="filter-text" type="search" placeholder="Filter by id, prompt, answer, label, error" autocomplete="off" spellcheck="false"></label>
<div id="filter-outcomes" class="chips" role="group" aria-label="Filter by outcome"></div><button type="button" id="failure-filter" class="chip" aria-pressed="true" hidden>One reason of failure ✕</button></div>
<div class="bar"><p id="shown" class="note" role="status"></p><div class="tools"><button type="button" id="clear-button" hidden>Clear selection</button><button type="button" id="compare-button" disabled>Compare</button></div></div>
<table id="item-table" aria-labelledby="items-title"><thead></thead><tbody></tbody></table><p><button type="button" id="more-button" hidden>Show more</button></p></div>
<noscript><p class="note">Answers, files and comparisons need JavaScript.</p><table class="plain"><thead><tr><th scope="col" class="number">#</th><th scope="col">Item</th><th scope="col">Outcome</th><th scope="col" class="number">Took</th><th scope="col" class="number">Machine time</th><th scope="col">Error</th></tr></thead>
<tbody>${items.map(plainRow)}</tbody></table></noscript></section>`;
}

function plainRow(item: PageItem): Markup {
  const { mark, word } = styleOf(item.outcome);
  const took = item.durationMs === null ? '–' : durationText(item.durationMs);
  return html`<tr><td class="number">${item.index + 1}</td><th scope="row" dir="auto">${item.id}</th><td>${mark} ${word}</td><td class="number">${took}</td><td class="number">${machineText(item.machineSeconds)}</td><td dir="auto">${item.error}</td></tr>`;
}

/** The dialogs of one item and of a comparison. */
export function dialogs(): Markup {
  const close = html`<button type="button" class="close" aria-label="Close">✕</button>`;
  return html`<dialog id="item-dialog" class="drawer" aria-labelledby="item-title"><div class="bar dialog-bar"><h2 id="item-title" tabindex="-1"></h2>
<div class="tools"><button type="button" id="item-previous" aria-label="Previous item">↑</button><button type="button" id="item-next" aria-label="Next item">↓</button>${close}</div></div><div id="item-body" class="dialog-body"></div></dialog>
<dialog id="compare-dialog" class="wide-dialog" aria-labelledby="compare-title"><div class="bar dialog-bar"><h2 id="compare-title" tabindex="-1">Compare</h2>
<div class="tools"><label class="check"><input type="checkbox" id="compare-only"> Only differences</label>${close}</div></div><div id="compare-body" class="dialog-body" tabindex="0" role="region" aria-labelledby="compare-title"></div></dialog>`;
}

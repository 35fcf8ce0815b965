/**
 * The sections that the page's script fills with the timeline and the items, and a plain table for browsers that run no
 * scripts.
 */

import { countText, durationText, machineText } from '../../format.js';
import { html, Markup } from '../../markup.js';
import { styleOf } from '../../outcome-styles.js';
import type { PageItem } from '../../page-data.js';

const legend = [
  ['queued', 'queued'],
  ['booting', 'booting'],
  ['preparing', 'preparing'],
  ['prompting', 'prompting'],
  ['ending', 'collecting and ending'],
] as const;

/**
 * If there were no forks, the section is hidden but exists, because the page's script needs its elements.
 * @param note which items the timeline leaves out
 */
export function timelineSection(chart: Markup, peak: number, note: string): Markup {
  const hidden = peak > 0 ? null : new Markup(' hidden');
  return html`<section class="card" id="timeline"${hidden} aria-labelledby="timeline-title"><h2 id="timeline-title">Timeline</h2>${note === '' ? null : html`<p class="note">${note}</p>`}
<ul class="legend">${legend.map(([kind, word]) => html`<li><span class="swatch fill-${kind}" aria-hidden="true"></span>${word}</li>`)}</ul>
<h3>Running forks <span class="note">at most ${countText(Math.round(peak))} at once</span></h3>${chart}
<div id="lanes" hidden><div class="bar"><h3>Each item</h3><div class="tools" role="group" aria-label="View of the timeline">
<button type="button" id="lanes-fit" aria-pressed="false">Fit all</button><button type="button" id="lanes-rows" aria-pressed="false">Rows</button>
<button type="button" id="zoom-out" aria-label="Zoom out">−</button><button type="button" id="zoom-in" aria-label="Zoom in">+</button></div></div>
<div id="lanes-view" tabindex="0" role="application" aria-label="Timeline of the items. Arrow keys move, Enter opens."></div>
<p id="lanes-reading" class="note reading" aria-live="polite"></p></div></section>`;
}

/** Hidden if there are no items. */
export function itemsSection(items: readonly PageItem[]): Markup {
  const hidden = items.length > 0 ? null : new Markup(' hidden');
  return html`<section class="card" id="matrix" aria-labelledby="matrix-title" hidden><h2 id="matrix-title">Matrix</h2><p class="note" id="matrix-note"></p><div id="matrix-view" class="matrix-view"></div></section>
<section class="card" id="items"${hidden} aria-labelledby="items-title"><h2 id="items-title">Items</h2>
<div id="browse" hidden><div class="filters"><label class="search"><span class="hidden-text">Filter by text</span><input id="filter-text" type="search" placeholder="Filter by id, prompt, answer, label, error  ( / )" autocomplete="off" spellcheck="false"></label>
<div id="filter-outcomes" class="chips" role="group" aria-label="Filter by outcome"></div><button type="button" id="failure-filter" class="chip" aria-pressed="true" hidden>One reason of failure ✕</button></div>
<div class="bar"><p id="shown" class="note" role="status"></p><div class="tools"><button type="button" id="clear-button" hidden>Clear selection</button><button type="button" id="compare-button" aria-keyshortcuts="c" disabled>Compare</button></div></div>
<div id="table-view" class="table-view"><table id="item-table" aria-labelledby="items-title"><thead><tr></tr></thead><tbody></tbody></table></div>
<p class="note keys-note"><kbd>j</kbd> <kbd>k</kbd> move · <kbd>Enter</kbd> opens · <kbd>x</kbd> selects · <kbd>c</kbd> compares · <kbd>/</kbd> filters · <kbd>?</kbd> all keys</p></div>
<noscript><p class="note">Answers, files and comparisons need JavaScript.</p><table class="plain"><thead><tr><th scope="col" class="number">#</th><th scope="col">Item</th><th scope="col">Outcome</th><th scope="col" class="number">Took</th><th scope="col" class="number">Machine time</th><th scope="col">Error</th></tr></thead>
<tbody>${items.map(plainRow)}</tbody></table></noscript></section>`;
}

function plainRow(item: PageItem): Markup {
  const { mark, word } = styleOf(item.outcome);
  const took = item.durationMs === null ? '–' : durationText(item.durationMs);
  return html`<tr><td class="number">${item.index + 1}</td><th scope="row" dir="auto">${item.id}</th><td>${mark} ${word}</td><td class="number">${took}</td><td class="number">${machineText(item.machineSeconds)}</td><td dir="auto">${item.error}</td></tr>`;
}

/** The dialogs of the page: an item, a comparison and the keys. The page's script fills the first two. */
import { html, type Markup } from '../../markup.js';

const keys: readonly (readonly [readonly string[], string])[] = [
  [['j', '↓'], 'next item'],
  [['k', '↑'], 'previous item'],
  [['Enter'], 'open the item'],
  [['x'], 'select the item for comparison (up to 4)'],
  [['c'], 'compare the selected items'],
  [['/'], 'filter'],
  [['g', 'G'], 'first or last item'],
  [['f'], 'timeline: fit all, or rows'],
  [['+', '−'], 'timeline: zoom'],
  [['t'], 'light or dark'],
  [['Esc'], 'close'],
  [['?'], 'show these keys'],
];

export function dialogs(): Markup {
  return html`<dialog id="item-dialog" class="drawer" aria-labelledby="item-title"><div class="bar dialog-bar"><h2 id="item-title" tabindex="-1"></h2>
<div class="tools"><button type="button" id="item-previous" aria-keyshortcuts="k" aria-label="Previous item">↑</button><button type="button" id="item-next" aria-keyshortcuts="j" aria-label="Next item">↓</button><button type="button" class="close" data-close aria-label="Close">✕</button></div></div><div id="item-body" class="dialog-body"></div></dialog>
<dialog id="compare-dialog" class="wide-dialog" aria-labelledby="compare-title"><div class="bar dialog-bar"><h2 id="compare-title" tabindex="-1">Compare</h2>
<div class="tools"><label class="check"><input type="checkbox" id="compare-only"> Only differences</label><button type="button" class="close" data-close aria-label="Close">✕</button></div></div><div id="compare-body" class="dialog-body" tabindex="0" role="region" aria-labelledby="compare-title"></div></dialog>
<dialog id="help-dialog" class="small-dialog" aria-labelledby="help-title"><div class="bar dialog-bar"><h2 id="help-title" tabindex="-1">Keys</h2><div class="tools"><button type="button" class="close" data-close aria-label="Close">✕</button></div></div>
<dl class="rows keys dialog-body">${keys.map(([names, means]) => html`<div><dt>${names.map((name) => html`<kbd>${name}</kbd> `)}</dt><dd>${means}</dd></div>`)}</dl></dialog>`;
}

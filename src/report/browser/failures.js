/** Connects the list of failures with the table of items. */
import { browsing, refresh } from './browsing.js';
import { byId } from './dom.js';
import { openItem } from './items/item-dialog.js';
import { focusCursorRow } from './items/item-table.js';
import { page } from './page-data.js';

export function startFailures() {
  for (const button of document.querySelectorAll('#failures button[data-failure]')) {
    if (!(button instanceof HTMLElement)) continue;
    button.hidden = false;
    button.addEventListener('click', () => showFailure(Number(button.dataset.failure)));
  }
}

/** Shows only the items of one group. A single item opens. @param {number} group */
function showFailure(group) {
  browsing.failure = group;
  browsing.outcomes.clear();
  browsing.text = '';
  browsing.cursor = 0;
  refresh();
  byId('items').scrollIntoView({ block: 'start' });
  focusCursorRow();
  if (page.failures[group].length === 1) openItem();
}

/** Connects the list of failures with the table of items. */
import { showOnly } from './browsing.js';
import { buttonsIn, byId } from './dom.js';
import { openItem } from './items/item-dialog.js';
import { page } from './page-data.js';

/** A button shows the items of its group. A single item opens. */
export function startFailures() {
  for (const button of buttonsIn('#failures')) {
    const group = Number(button.dataset.failure);
    button.addEventListener('click', () => {
      showOnly(group);
      byId('items').scrollIntoView({ block: 'start' });
      const [first, ...others] = page.failures[group];
      if (others.length === 0) openItem(page.items[first]);
    });
  }
}

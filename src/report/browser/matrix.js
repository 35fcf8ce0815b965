/** Opens the items of the matrix, and compares the variants of a prompt. */
import { buttonsIn } from './dom.js';
import { openComparison } from './items/compare-dialog.js';
import { openItem } from './items/item-dialog.js';
import { page } from './page-data.js';

export function startMatrix() {
  for (const button of buttonsIn('#matrix')) {
    const items = (button.dataset.places ?? '').split(' ').map((place) => page.items[Number(place)]);
    button.addEventListener('click', () => {
      if (button.classList.contains('row-head')) openComparison(items);
      else openItem(items[0]);
    });
  }
}

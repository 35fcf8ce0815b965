/** Starts the parts that need a script. Without a script, the page still shows the summary and the tables. */

import { byId } from './dom.js';
import { startFailures } from './failures.js';
import { startFilters } from './filters.js';
import { startCompareDialog } from './items/compare-dialog.js';
import { startItemDialog } from './items/item-dialog.js';
import { startTable } from './items/item-table.js';
import { startMatrix } from './matrix.js';

byId('browse').hidden = false;
startCompareDialog();
startFilters();
startTable();
startMatrix();
startFailures();
// Last: it may open an item at once.
startItemDialog();
for (const button of document.querySelectorAll('dialog .close')) {
  button.addEventListener('click', () => button.closest('dialog')?.close());
}

/**
 * Starts the parts that need a script. Without a script, the page still shows the summary, the charts and a plain
 * table.
 */

import { startCopying } from './copy.js';
import { byId } from './dom.js';
import { startFailures } from './failures.js';
import { startFilters } from './filters.js';
import { startCompareDialog } from './items/compare-dialog.js';
import { startItemDialog } from './items/item-dialog.js';
import { startTable } from './items/item-table.js';
import { startKeys } from './keys.js';
import { startLanes } from './lanes/lanes.js';
import { startMatrix } from './matrix/matrix.js';
import { startTheme } from './theme.js';

for (const id of ['tools', 'lanes', 'browse']) byId(id).hidden = false;
startTheme();
startItemDialog();
startCompareDialog();
startFilters();
startTable();
if (!byId('timeline').hidden) startLanes();
startMatrix();
startFailures();
startCopying(document);
startKeys();

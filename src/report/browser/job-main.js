/** Starts the parts of a job's page that need a script. Without a script, the page shows everything. */

import { startCopying } from './copy.js';
import { byId } from './dom.js';
import { startTheme } from './theme.js';

byId('tools').hidden = false;
startTheme();
startCopying(document);

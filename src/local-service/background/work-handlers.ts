import type { Context } from '../core/context.js';
import { archive, expireData } from '../sandboxes/archive.js';
import { boot, recoverFromError } from '../sandboxes/boot.js';
import { executeDeletion } from '../sandboxes/delete.js';
import { hydrate } from '../sandboxes/hydration.js';
import { setUp } from '../sandboxes/setup.js';
import { autoStop } from '../sandboxes/stop.js';
import { dropSnapshot } from '../snapshots/data.js';
import { syncSsh } from '../ssh/access.js';
import { runHousekeeping } from './housekeeping.js';
import type { WorkHandlers } from './scheduler.js';

/** Which operation does which kind of work. */
export function workHandlers(context: Context): WorkHandlers {
  return {
    boot: (work) => boot(context, work),
    hydrate: (work) => hydrate(context, work),
    setup: (work) => setUp(context, work),
    archive: (work) => archive(context, work),
    auto_stop: (work) => autoStop(context, work),
    delete: (work) => executeDeletion(context, work),
    expire_data: (work) => expireData(context, work),
    drop_snapshot: (work) => dropSnapshot(context, work),
    ssh: ({ subject }) => syncSsh(context, subject),
    recover: (work) => recoverFromError(context, work),
    housekeeping: () => runHousekeeping(context),
  };
}

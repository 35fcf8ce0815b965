import { archive, expireData } from './archive.js';
import { boot, recoverFromError } from './boot.js';
import type { Context } from './context.js';
import { executeDeletion } from './deletion.js';
import { keepHouse } from './housekeeping.js';
import { hydrate } from './hydration.js';
import type { WorkHandlers } from './scheduler.js';
import { setUp } from './setup.js';
import { dropSnapshot } from './snapshot-data.js';
import { syncSsh } from './ssh-access.js';
import { autoStop } from './stop.js';

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
    housekeeping: () => keepHouse(context),
  };
}

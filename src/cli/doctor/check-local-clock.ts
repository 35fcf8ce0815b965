/** Checks the clock of a local service. Its `Date` header does not show it. */

import { heldText, type LocalClock, movedText } from '../connect/local-clock.js';
import { programName } from '../program-name.js';
import { type Check, failed, warning } from './check.js';

/** Null if the service is not local, or its clock runs and agrees with that of this machine. */
export function checkLocalClock(clock: LocalClock | null): Check | null {
  const held = heldText(clock);
  if (held !== null) return failed('clock', held, `Run \`${programName} local clock --release\`.`);
  const moved = movedText(clock);
  if (clock === null || moved === null) return null;
  const mend =
    clock.aheadMs < 0
      ? `Run \`${programName} local clock --release\`: it moves the clock forward to the time of this machine.`
      : `No time is turned back; only \`${programName} local reset --yes\` sets the clock back, and deletes every sandbox.`;
  return warning('clock', moved, mend);
}

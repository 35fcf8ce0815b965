/** Checks what a local service says of itself: how it isolates its sandboxes, its clock, and whether its settings are current. */

import { heldText, type LocalClock, movedText } from '../connect/local-clock.js';
import type { LocalFacts } from '../connect/local-facts.js';
import type { SaidIsolation } from '../output/isolation.js';
import { programName } from '../program-name.js';
import { type Check, failed, ok, skipped, warning } from './check.js';

const mends = {
  plain: 'Install bubblewrap, or allow it to create namespaces; see docs/security.md, "Sandboxes".',
  none: 'Or set "network": "host" to use the network of this machine.',
  lacks:
    'Raise the limits that the message names. For the rest, install bubblewrap 0.8 or later, and let the service create control groups; see docs/security.md, "Sandboxes".',
  unknown: "Use the same version for the service and this command, and set the service's key.",
  host: 'Remove "network": "host" and open single ports with "allowHost".',
};

export function checkIsolation({ known: isolation, problem }: SaidIsolation): Check {
  if (problem !== null) return warning('isolation', problem, mends.unknown);
  if (isolation === null) return skipped('isolation', 'The service is not a local service of this version.');
  const { network, text } = isolation;
  const why = isolation.reason ?? network.reason;
  const message = `${text}${why === undefined ? '' : ` (${why})`}.`;
  if (isolation.isolation === 'plain') return warning('isolation', message, mends.plain);
  if (network.kind === 'host') return warning('isolation', message, mends.host);
  if (network.kind === 'none' && !network.wished) {
    return warning('isolation', message, [network.mend ?? [], mends.none].flat().join(' '));
  }
  return isolation.lacks.length > 0 ? warning('isolation', message, mends.lacks) : ok('isolation', message);
}

/** Empty if the service is not a local one, or if its settings are those of its file. */
export function checkLocalSettings({ changedSettings }: Pick<LocalFacts, 'changedSettings'>): readonly Check[] {
  if (changedSettings === null) return [];
  return [warning('local', changedSettings, 'Restart the local service when no job needs it.')];
}

/**
 * Null if the service is not local, or its clock runs and agrees with that of this machine. The `Date` header of the
 * service does not show this clock.
 */
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

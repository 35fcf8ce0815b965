/** Warns of a Temporal server that may be down when a schedule is due. */

import type { StackStatus } from '../../supervisor/control-protocol.js';
import { readStatus } from '../connect/stack-status.js';
import type { Notices } from '../output/reporter.js';
import { programName } from '../program-name.js';

const embeddedNotice =
  'The embedded Temporal server stops when it is idle, and schedules do not run while it is down. To run every ' +
  `night, start it with \`${programName} up\`, or set TEMPORAL_ADDRESS to a server that stays up.`;

/** Unless somebody keeps the server up. */
export async function warnOfEmbedded(
  { temporal, home }: { readonly temporal: { readonly configured: boolean }; readonly home: string },
  reporter: Notices,
  status: (home: string) => Promise<Pick<StackStatus, 'kept' | 'foreground'> | undefined> = readStatus,
): Promise<void> {
  if (temporal.configured) return;
  const stack = await status(home).catch(() => undefined);
  if (!stack?.kept && !stack?.foreground) reporter.notice(embeddedNotice);
}

/** Tells whether waits ended by polls although a bridge is registered, so that work took longer than it should. */

import type { WakeReport } from '../../workflow-client/jobs/wake-report.js';
import type { Platform } from '../connect/platform.js';
import { programName } from '../program-name.js';
import { plural } from '../units.js';
import { bridgesAmong } from './bridges-among.js';

/** How waits for a sandbox ended. */
export type EndsOfWaits = Pick<WakeReport, 'byWebhook' | 'bySafetyPoll'>;

const timeoutMs = 5_000;

/** Undefined if a webhook ended a wait, or if nothing waited. A single event may be late, and is worth no word. */
export function polledText({ byWebhook, bySafetyPoll }: EndsOfWaits): string | undefined {
  if (byWebhook > 0 || bySafetyPoll === 0) return undefined;
  return `${plural(bySafetyPoll, 'wait')} ended by polling and none by a webhook, although a bridge is registered.`;
}

/**
 * A line for the end of a job or a batch. Asks the service only if no webhook ended a wait. Never throws.
 * @returns undefined if there is nothing to say, or if no bridge is known
 */
export async function polledNotice(
  { bridgeUrl, service }: Pick<Platform, 'bridgeUrl' | 'service'>,
  ends: EndsOfWaits,
): Promise<string | undefined> {
  const text = polledText(ends);
  if (text === undefined) return undefined;
  const isExpected = async () => bridgesAmong((await service.listWebhooks({ timeoutMs })).webhooks).length > 0;
  // A key without the right to read webhooks is no reason to warn.
  if (bridgeUrl === undefined && !(await isExpected().catch(() => false))) return undefined;
  return `${text} It took longer. To find out why: ${programName} doctor`;
}

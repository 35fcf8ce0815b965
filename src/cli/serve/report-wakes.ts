/** `sandflow bridge report`: how many webhooks arrived in time, and how late. */
import { type EstimatedShare, reportWakes, type WakeReport } from '../../workflow-client/jobs/wake-report.js';
import type { CommandContext } from '../command.js';
import { withPlatform } from '../connect/with-platform.js';
import { printJson } from '../output/json.js';
import { parseCount, parseSince } from '../units.js';
import type { BridgeReportOptions } from './options.js';

export async function printWakes(options: BridgeReportOptions, context: CommandContext): Promise<void> {
  const { io } = context;
  const limit = parseCount(options.limit, '--limit', 1, 10_000);
  const since = parseSince(options.since, Date.now());
  const { readWakes } = await import('../../workflow-client/jobs/read-wakes.js');
  const wakes = await withPlatform(context, {}, ({ temporal, config: { deployment } }) =>
    readWakes(temporal, { deployment, since, limit }),
  );
  const report = reportWakes(wakes);
  if (options.json) printJson(io.stdout, report);
  else io.stdout.write(`${reportText(report).join('\n')}\n`);
}

function reportText({ jobs, unreadable, waits, byWebhook, bySafetyPoll, loss, lagMs }: WakeReport): string[] {
  const read = `${jobs} ended jobs, ${waits} waits`;
  const lines = [unreadable === 0 ? read : `${read}; the results of ${unreadable} more jobs cannot be read`];
  if (loss === null) return [...lines, 'No job waited, so nothing is known of the webhooks.'];
  lines.push(
    `woken by a webhook      ${byWebhook}`,
    `woken by a safety poll  ${bySafetyPoll}`,
    `lost or late            ${shareText(loss)}`,
  );
  if (lagMs !== null) lines.push(`lag of the webhooks     ${lagMs.p50} ms (median), ${lagMs.p95} ms (95 %)`);
  return lines;
}

const percent = (share: number) => `${Math.round(share * 100)} %`;

const shareText = ({ share, low, high }: EstimatedShare) =>
  `${percent(share)} (between ${percent(low)} and ${percent(high)}, with 95 % confidence)`;

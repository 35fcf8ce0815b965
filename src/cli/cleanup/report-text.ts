/** The report of a cleanup, for people. */
import type { CleanupReport, CleanupSummary, ReportEntry } from '../../../workflows/cleanup/types.js';
import { formatDuration } from '../duration.js';
import { formatTable } from '../output/table.js';
import { oneLine } from '../output/terminal-safe.js';

const dayMs = 86_400_000;

/** One line for every sandbox, oldest first. */
export function reportTable({ plan }: CleanupReport): string {
  if (!plan || plan.entries.length === 0) return '';
  const rows = plan.entries.map((entry) => [
    entry.sandboxId,
    oneLine(entry.name ?? ''),
    oneLine(entry.state),
    entry.ageMs === null ? '?' : ageText(entry.ageMs),
    ownerText(entry),
    entry.saved,
    oneLine(entry.rule ?? ''),
    oneLine(decisionText(entry)),
  ]);
  return formatTable(['SANDBOX', 'NAME', 'STATE', 'AGE', 'OWNER', 'SAVED', 'RULE', 'DECISION'], rows);
}

/** What became of a sandbox, or will. */
function decisionText({ results, action, why, snapshotIds }: ReportEntry): string {
  if (results.length > 0) {
    const texts = results.map(({ outcome, why: reason }) => (reason === null ? outcome : `${outcome}: ${reason}`));
    return [...new Set(texts)].join('; ');
  }
  const count = snapshotIds.length > 0 ? ` (${snapshotIds.length})` : '';
  return action === null ? `left: ${why ?? ''}` : `${action}${count}`;
}

const ownerText = ({ owner }: ReportEntry) =>
  owner.workflowId === null ? owner.status : `${owner.status} ${owner.workflowId}`;

function ageText(ms: number): string {
  const past = Math.max(0, ms);
  return past < 2 * dayMs ? formatDuration(Math.floor(past / 1_000) * 1_000) : `${Math.floor(past / dayMs)} d`;
}

/** Two or three lines: how it ended, what was done, and what wants a look. */
export function summaryLines({ outcome, planned, counts, policy, error }: CleanupSummary): string[] {
  const lines: string[] = [];
  const done = (Object.entries(counts) as [string, number][]).filter(([, count]) => count > 0);
  const outcomes = done.map(([name, count]) => `${count} ${name.replace('_', ' ')}`);
  const due = planned === null ? [] : [`${planned.due} due of ${planned.fleet}`];
  const left = planned !== null && planned.overLimit > 0 ? [`${planned.overLimit} left for the next night`] : [];
  lines.push([`${policy}: ${outcome.replaceAll('_', ' ')}`, ...due, ...outcomes, ...left].join(' · '));
  if (planned?.refusal) lines.push(`Nothing was done: ${planned.refusal.why}.`);
  if (error) lines.push(`${error.code}: ${error.message}`);
  if (planned && planned.orphans > 0) lines.push(`Jobs that have ended left ${planned.orphans} sandboxes behind.`);
  if (planned && planned.unknownOwners > 0) {
    lines.push(`Of ${planned.unknownOwners} the owner is not known to Temporal; they are left alone and worth a look.`);
  }
  if (planned && planned.unreadable > 0) {
    lines.push(
      `${planned.unreadable} sandboxes or snapshots of the lists could not be read; they are left alone and worth a look.`,
    );
  }
  for (const { sandboxId, name, dataExpiresAt } of planned?.warnings ?? []) {
    lines.push(
      `The data of ${name ?? ''} (${sandboxId}), which is protected, is deleted by the service at ${dataExpiresAt}.`,
    );
  }
  return lines.map(oneLine);
}

/** True where everything went as it was meant to. */
export function wentWell({ outcome, counts }: CleanupSummary): boolean {
  const isDone = outcome === 'planned' || outcome === 'applied';
  return isDone && counts.failed === 0 && counts.not_confirmed === 0;
}

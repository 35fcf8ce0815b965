/** The report of a cleanup as text. */
import type { CleanupReport, CleanupSummary, ReportEntry } from '../../../workflows/cleanup/types.js';
import { formatTable } from '../output/table.js';
import { oneLine } from '../output/terminal-safe.js';
import { formatAge } from '../units.js';

/** One line for every sandbox, oldest first. */
export function reportTable({ plan }: CleanupReport): string {
  if (!plan || plan.entries.length === 0) return '';
  const rows = plan.entries.map((entry) => [
    entry.sandboxId,
    oneLine(entry.name ?? ''),
    oneLine(entry.state),
    entry.ageMs === null ? '?' : formatAge(entry.ageMs),
    ownerText(entry),
    entry.saved,
    oneLine(entry.rule ?? ''),
    oneLine(decisionText(entry)),
  ]);
  return formatTable(['SANDBOX', 'NAME', 'STATE', 'AGE', 'OWNER', 'SAVED', 'RULE', 'DECISION'], rows);
}

/** What was or will be done with a sandbox. */
function decisionText({ results, action, why, snapshotIds }: ReportEntry): string {
  if (results.length > 0) {
    const texts = results.map(({ outcome, why: reason }) => (reason === null ? outcome : `${outcome}: ${reason}`));
    return [...new Set(texts)].join('; ');
  }
  const count = snapshotIds.length > 0 ? ` (${snapshotIds.length})` : '';
  return action === null ? `skipped: ${why ?? ''}` : `${action}${count}`;
}

const ownerText = ({ owner }: ReportEntry) =>
  owner.workflowId === null ? owner.status : `${owner.status} ${owner.workflowId}`;

/** A few lines: the outcome, what was done, and what to check. */
export function summaryLines({ outcome, planned, counts, policy, error }: CleanupSummary): string[] {
  const lines: string[] = [];
  const done = (Object.entries(counts) as [string, number][]).filter(([, count]) => count > 0);
  const outcomes = done.map(([name, count]) => `${count} ${name.replace('_', ' ')}`);
  const due = planned === null ? [] : [`${planned.due} due of ${planned.fleet}`];
  const left = planned !== null && planned.overLimit > 0 ? [`${planned.overLimit} left for the next night`] : [];
  lines.push([`${policy}: ${outcome.replaceAll('_', ' ')}`, ...due, ...outcomes, ...left].join(' · '));
  if (planned?.refusal) lines.push(`Nothing was done: ${planned.refusal.why}.`);
  if (error) lines.push(`${error.code}: ${error.message}`);
  if (planned && planned.orphans > 0) lines.push(`Ended jobs left ${planned.orphans} sandboxes behind.`);
  if (planned && planned.unknownOwners > 0) {
    lines.push(
      `${planned.unknownOwners} sandboxes were skipped because Temporal has no record of their owners. Check them.`,
    );
  }
  if (planned && planned.unreadable > 0) {
    lines.push(`${planned.unreadable} sandboxes or snapshots were skipped because they could not be read. Check them.`);
  }
  for (const { sandboxId, name, dataExpiresAt } of planned?.warnings ?? []) {
    lines.push(
      `The service deletes the data of the protected sandbox ${name ?? ''} (${sandboxId}) at ${dataExpiresAt}.`,
    );
  }
  return lines.map(oneLine);
}

/** True if every action succeeded. */
export function wentWell({ outcome, counts }: CleanupSummary): boolean {
  const isDone = outcome === 'planned' || outcome === 'applied';
  return isDone && counts.failed === 0 && counts.not_confirmed === 0;
}

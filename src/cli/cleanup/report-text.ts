/** The report of a cleanup as text. */
import type { CleanupReport, CleanupSummary, ReportEntry } from '../../protocol/cleanup.js';
import { machinesText, removalText } from '../../protocol/night-message.js';
import { formatTable } from '../output/table.js';
import { oneLine } from '../output/terminal-safe.js';
import { formatAge } from '../units.js';

export interface ReportTextOptions {
  /** True for a line for each of the others, too. */
  readonly all: boolean;
  /** Columns of the terminal; undefined elsewhere. */
  readonly width: number | undefined;
}

/**
 * One line for every sandbox that is due, oldest first. Then the number of the other sandboxes, by the reason why they
 * are skipped.
 */
export function reportText({ plan }: CleanupReport, { all, width }: ReportTextOptions): string {
  if (!plan) return '';
  const due = plan.entries.filter(isDue);
  const skipped = plan.entries.filter((entry) => !isDue(entry));
  const shown = all ? [...due, ...skipped] : due;
  const counts = all ? '' : skippedText(skipped);
  return `${shown.length === 0 ? '' : tableOf(shown, width)}${shown.length > 0 && counts !== '' ? '\n' : ''}${counts}`;
}

const isDue = ({ action, results }: ReportEntry) => action !== null || results.length > 0;

/** Reasons that name a workflow are counted by their kind. */
const kindTexts: Partial<Record<NonNullable<ReportEntry['reason']>, string>> = {
  owner_open: 'its owner is running',
  owner_unknown: 'its owner is unknown',
  other_deployment: 'another deployment owns it',
  kept_by_owner: 'its job kept it on purpose',
};

function skippedText(skipped: readonly ReportEntry[]): string {
  if (skipped.length === 0) return '';
  const counts = new Map<string, number>();
  for (const { reason, why } of skipped) {
    const text = (reason && kindTexts[reason]) ?? why ?? '';
    counts.set(text, (counts.get(text) ?? 0) + 1);
  }
  const lines = [...counts].sort(([, a], [, b]) => b - a).map(([text, count]) => `  ${count}  ${oneLine(text)}\n`);
  return `${sandboxes(skipped.length)} skipped (list them with --all):\n${lines.join('')}`;
}

function tableOf(entries: readonly ReportEntry[], width: number | undefined): string {
  const rows = entries.map((entry) => [
    entry.sandboxId,
    oneLine(entry.name ?? ''),
    oneLine(entry.state),
    entry.ageMs === null ? '?' : formatAge(entry.ageMs),
    ownerText(entry),
    entry.saved,
    oneLine(entry.rule ?? ''),
    oneLine(decisionText(entry)),
  ]);
  return formatTable(['SANDBOX', 'NAME', 'STATE', 'AGE', 'OWNER', 'SAVED', 'RULE', 'DECISION'], rows, { width });
}

function decisionText({ results, action, why, snapshotIds, failingStop }: ReportEntry): string {
  if (results.length > 0) {
    const texts = results.map(({ outcome, why: reason }) => (reason === null ? outcome : `${outcome}: ${reason}`));
    return [...new Set(texts)].join('; ');
  }
  if (action === 'escalate') return `escalate: ${failingText(failingStop)}`;
  const count = snapshotIds.length > 0 ? ` (${snapshotIds.length})` : '';
  return action === null ? `skipped: ${why ?? ''}` : `${action}${count}`;
}

/** Since when a stop fails, who waits for it, and which step is due. */
function failingText(failing: ReportEntry['failingStop']): string {
  if (failing === null) return '';
  const { since, follower, dueStep } = failing;
  const who = follower === null ? 'nobody follows it' : `the request ${follower.requestId} follows it`;
  return `requested at ${since}, ${who}, ${dueStep === null ? 'no step is due yet' : `"${dueStep}" is due`}`;
}

const ownerText = ({ owner }: ReportEntry) =>
  owner.workflowId === null ? owner.status : `${owner.status} ${owner.workflowId}`;

/**
 * A few lines: the outcome, what was done, and what to check. The summary of a run holds only the first patterns and
 * warnings.
 * @param whole the plan, from the report, to name all of them
 */
export function summaryLines(
  { outcome, planned, counts, policy, error, machinesLeft, results }: CleanupSummary,
  whole?: Pick<NonNullable<CleanupReport['plan']>, 'unmatched' | 'warnings'> | null,
): string[] {
  const lines: string[] = [];
  const done = (Object.entries(counts) as [string, number][]).filter(([, count]) => count > 0);
  const outcomes = done.map(([name, count]) => `${count} ${name.replace('_', ' ')}`);
  const due = planned === null ? [] : [`${planned.due} due of ${planned.fleet}`];
  const left = planned !== null && planned.overLimit > 0 ? [`${planned.overLimit} left for the next night`] : [];
  lines.push([`${policy}: ${outcome.replaceAll('_', ' ')}`, ...due, ...outcomes, ...left].join(' · '));
  if (machinesLeft && outcome !== 'planned') lines.push(`${machinesText(machinesLeft)}.`);
  if (planned?.refusal) lines.push(refusalText(planned.refusal, outcome));
  if (planned && planned.limitProblem !== null) lines.push(`This needs attention: ${planned.limitProblem}.`);
  if (error) lines.push(`${error.code}: ${error.message}`);
  if (results) lines.push(`${removalText(results, outcome === 'planned' ? 'due' : 'removed')}.`);
  if (planned && planned.orphans > 0) {
    const [belong, jobs] = planned.orphans === 1 ? ['belongs', 'a job that has'] : ['belong', 'jobs that have'];
    lines.push(`${sandboxes(planned.orphans)} ${belong} to ${jobs} ended.`);
  }
  if (planned && planned.unknownOwners > 0) {
    lines.push(`The owners of ${sandboxes(planned.unknownOwners)} are unknown: skipped. List them with --all.`);
  }
  if (planned && planned.unreadable > 0) {
    lines.push(`${planned.unreadable} sandboxes or snapshots were skipped because they could not be read. Check them.`);
  }
  const shown = whole?.unmatched ?? planned?.unmatched.slice(0, patternsShown) ?? [];
  if (planned && planned.unmatchedCount > 0) lines.push(unmatchedText(shown, planned));
  const warnings = whole?.warnings ?? planned?.warnings ?? [];
  for (const { sandboxId, name, dataExpiresAt } of warnings) {
    lines.push(
      `The service deletes the data of the protected sandbox ${name ?? ''} (${sandboxId}) at ${dataExpiresAt}.`,
    );
  }
  const more = (planned?.warningCount ?? 0) - warnings.length;
  if (more > 0) lines.push(`… and of ${sandboxes(more)} more (list them with --all).`);
  return lines.map(oneLine);
}

function refusalText({ outcome, why }: Refusal, ended: CleanupSummary['outcome']): string {
  const hint = outcome === 'outside_window' ? ' --ignore-window acts at any time.' : '';
  return `${ended === 'planned' ? 'A run would do nothing now' : 'Nothing was done'}: ${why}.${hint}`;
}

type Refusal = NonNullable<NonNullable<CleanupSummary['planned']>['refusal']>;

const sandboxes = (count: number) => (count === 1 ? '1 sandbox' : `${count} sandboxes`);

/** Maximum number of patterns in the line, unless the whole plan is given. */
const patternsShown = 10;

function unmatchedText(
  unmatched: NonNullable<CleanupSummary['planned']>['unmatched'],
  { unmatchedCount }: Pick<NonNullable<CleanupSummary['planned']>, 'unmatchedCount'>,
): string {
  const shown = unmatched.map(({ where, pattern }) => `${pattern} (${where})`);
  const more =
    unmatchedCount > shown.length ? `, and ${unmatchedCount - shown.length} more (list them with --all)` : '';
  const [pattern, match] = unmatchedCount === 1 ? ['pattern', 'matches'] : ['patterns', 'match'];
  return `${unmatchedCount} ${pattern} of the policy ${match} nothing now: ${shown.join(', ')}${more}.`;
}

/** True if every action succeeded, and the limits let something act. */
export function wentWell({ outcome, counts, planned, results }: CleanupSummary): boolean {
  const isDone = (outcome === 'planned' || outcome === 'applied') && (results?.problem ?? null) === null;
  return isDone && counts.failed === 0 && counts.not_confirmed === 0 && (planned?.limitProblem ?? null) === null;
}

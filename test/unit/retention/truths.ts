/** Why an action is wrong, computed independently of the tested code. */
import type { PlannedAction } from '../../../src/protocol/cleanup-plan.js';
import type { CleanupPolicy } from '../../../src/protocol/cleanup-policy.js';
import { nowMs, type Truth } from './worlds.js';

export interface Circumstances {
  readonly allowed: number;
  readonly nowMs: number;
}

/** The sandbox as each part of it was last read; unread parts as they are now. */
export interface Seen {
  /** Undefined: the sandbox was gone. */
  readonly truth: Truth | undefined;
  /** The sandboxes of its group to keep that were gone. */
  readonly lostKeeps: readonly string[];
}

/** Empty if the action was right. The words are the names of the guards. */
export function wrongs(
  action: PlannedAction,
  { truth, lostKeeps }: Seen,
  by: CleanupPolicy,
  at: Circumstances,
): string[] {
  if (!truth) return ['gone'];
  const { facts, seen, leasedBy, snapshots } = truth;
  const name = facts.name ?? '';
  const found: string[] = [];
  if (by.protect.some((p) => (p.endsWith('*') ? name.startsWith(p.slice(0, -1)) : name === p))) found.push('protected');
  if (name.startsWith('sf-theirs-')) found.push('owner');
  if (name.startsWith('sf-mine-')) {
    const execution = name.split('-')[3] ?? '';
    const isOrphan = seen?.isOpen === false && seen.closedFirstRunIds.some((runId) => runId.endsWith(execution));
    if (!isOrphan) found.push('owner');
  }
  if (leasedBy.length > 0) found.push('leased');
  const asSeen = (known: Truth['facts']) => JSON.stringify({ ...known, dollars: null });
  if (asSeen(action.facts) !== asSeen(facts)) found.push('changed');
  if (action.number > at.allowed) found.push('limit');
  if (action.action !== 'stop' && facts.access !== null && facts.access !== 'owner') found.push('access');
  if (by.windows.length > 0 && new Date(at.nowMs).getUTCDay() !== 1) found.push('window');
  if (action.keeps.includes(facts.id) || lostKeeps.length > 0) found.push('newest');
  if (!fits(by, action, facts)) found.push('rule');
  if (action.snapshotId !== null && !mayGo(action, snapshots, by)) found.push('snapshot');
  return found;
}

/** Whether the rule requests this, checked by a few simple conditions. */
function fits({ rules }: CleanupPolicy, { rule: title, action }: PlannedAction, facts: Truth['facts']): boolean {
  const rule = rules.find((known) => known.rule === title);
  if (rule?.action !== action) return false;
  const { states, olderThanMs, dataExpired } = rule.match;
  const isPlainState = action === 'stop' || facts.state === 'archived' || facts.state === 'error';
  if (states === null ? !isPlainState : !states.includes(facts.state)) return false;
  // The clock may have advanced by three days.
  const ageMs = facts.createdAt === null ? -1 : nowMs + 3 * 86_400_000 - Date.parse(facts.createdAt);
  if (olderThanMs !== null && ageMs <= olderThanMs) return false;
  return dataExpired === null || dataExpired === (facts.dataExpiredAt !== null);
}

/** Neither the only one left, nor one with a name that the rule does not mention. */
function mayGo({ snapshotId, rule: title }: PlannedAction, snapshots: Truth['snapshots'], by: CleanupPolicy): boolean {
  const snapshot = snapshots.find(({ id }) => id === snapshotId);
  if (!snapshot) return false;
  const rank = ({ createdAt }: { readonly createdAt: string | null }) => createdAt ?? 'unknown';
  const newer = snapshots.filter((other) => other !== snapshot && rank(other) >= rank(snapshot));
  const namesSome = by.rules.some(({ rule, snapshotNames }) => rule === title && snapshotNames.length > 0);
  return newer.length > 0 && (snapshot.name === null || (namesSome && snapshot.name === 'tmp-1'));
}

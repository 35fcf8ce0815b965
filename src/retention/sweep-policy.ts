/** The policy of `sandflow stops sweep`: a cleanup that does nothing but escalate failing stops. Pure. */

import type { CleanupPolicy } from '../protocol/cleanup-policy.js';
import type { Escalation } from '../protocol/escalation.js';
import { readRule } from './policy-schema.js';

/** Options of `sweepPolicy`. */
export interface SweepOptions {
  /** What is done about each failing stop: see `parseEscalation`. */
  readonly escalate: Escalation;
  /** Only stops that were requested longer ago than this, in ms. Default: 10 minutes. */
  readonly failingForMs?: number;
  /** Patterns of names that are never touched. Default: none. */
  readonly protect?: readonly string[];
  /** Lets steps delete although one of these patterns matches nothing. Default: false. */
  readonly protectMayMatchNothing?: boolean;
  /** Maximum number of stops that are escalated in one night. Default: 20. */
  readonly maxActions?: number;
  /** Receives one message about each sweep, and those about the steps. Default: none. */
  readonly notify?: CleanupPolicy['notify'];
  /** Name of the policy, which is part of the ids of its runs and its schedule. Default: `stop-sweep`. */
  readonly name?: string;
}

/**
 * A policy that escalates every failing stop of the account, for `startCleanup` and `scheduledCleanup`.
 * @example
 * const policy = sweepPolicy({ escalate: parseEscalation('30m: resume-and-stop, 2h: notify') });
 * const handle = await startCleanup(client, { deployment, taskQueue, policy, mode: 'apply', runId: '2026-05-01' });
 * const { counts } = await handle.result();
 */
export function sweepPolicy(options: SweepOptions): CleanupPolicy {
  const { match, ...rule } = readRule({ rule: 'failing stops', action: 'escalate' });
  return {
    name: options.name ?? 'stop-sweep',
    timeZone: 'UTC',
    windows: [],
    limits: { maxActions: options.maxActions ?? 20, maxPercent: 100 },
    protect: options.protect ?? [],
    protectMayMatchNothing: options.protectMayMatchNothing ?? false,
    warnBeforeExpiryMs: null,
    notify: options.notify ?? null,
    escalate: options.escalate,
    rules: [{ ...rule, match: { ...match, stopFailingForMs: options.failingForMs ?? 600_000 } }],
  };
}

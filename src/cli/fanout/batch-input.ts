/** Builds the policy and the matrix that the options of `fanout` describe. */

import { reasoningEfforts } from '../../contract/requests/sandbox-requests.js';
import type { OtherFields } from '../../contract/workflow-safe/other-fields.js';
import type { Matrix } from '../../fanout/index.js';
import type { FanoutPolicy } from '../../protocol/fanout/fanout-input.js';
import type { PromptStep } from '../../protocol/job/job-input.js';
import { maxRetries } from '../../protocol/limits.js';
import { escalationOf } from '../stops/escalation-options.js';
import { anyLength, parseCount, parseDurationMs, parseTtlSeconds } from '../units.js';
import { UsageError } from '../usage-error.js';
import type { FanoutOptions, PolicyOptions } from './options.js';

/**
 * Returns only the parts of the policy whose options were given.
 * @throws UsageError
 */
export function policyOf(options: PolicyOptions): Partial<FanoutPolicy> {
  const { concurrency, retries, itemDeadline, deadline, budget, type, end, ttl, onUnknown } = options;
  const stopAt = stopAtOf(options);
  const escalate = escalationOf(options);
  return {
    ...(concurrency !== undefined && { concurrency: parseCount(concurrency, '--concurrency', 1, 2_000) }),
    ...(stopAt && { stopAt }),
    ...(retries !== undefined && { retries: parseCount(retries, '--retries', 0, maxRetries) }),
    ...(itemDeadline !== undefined && { itemDeadlineMs: parseDurationMs(itemDeadline, '--item-deadline') }),
    ...(deadline !== undefined && { deadlineMs: parseDurationMs(deadline, '--deadline') }),
    ...(budget !== undefined && { budgetSeconds: Math.floor(parseDurationMs(budget, '--budget', anyLength) / 1_000) }),
    ...(type !== undefined && { type }),
    ...(end !== undefined && { end }),
    ...(ttl !== undefined && { ttlSeconds: parseTtlSeconds(ttl) }),
    ...(onUnknown !== undefined && { onUnknownOutcome: onUnknown }),
    ...(escalate && { escalate }),
  };
}

/** How the forks are created and prompted. A resume does not change it. */
export function forkSettingsOf(
  options: Pick<FanoutOptions, 'waitFor' | 'eachConversation' | 'conversation' | 'snapshots' | 'monitoring'>,
  forkBody: OtherFields = {},
): Partial<FanoutPolicy> {
  const { waitFor, eachConversation, conversation, snapshots, monitoring } = options;
  return {
    ...(waitFor !== 'usable' && { waitFor }),
    ...(eachConversation && { conversations: 'each' as const }),
    ...(conversation !== undefined && { conversationId: conversation }),
    ...(!snapshots && { snapshots }),
    ...(!monitoring && { monitoring }),
    ...(Object.keys(forkBody).length > 0 && { forkBody }),
  };
}

/** @throws UsageError */
export function matrixOf(options: Pick<FanoutOptions, 'provider' | 'model' | 'effort' | 'repeat'>): Matrix {
  return {
    providers: listOf(options.provider, '--provider'),
    models: listOf(options.model, '--model'),
    efforts: listOf(options.effort, '--effort').map(effortOf),
    repeats: parseCount(options.repeat, '--repeat', 1, 1_000),
  };
}

function stopAtOf({ first, failFast }: PolicyOptions): FanoutPolicy['stopAt'] | undefined {
  if (first !== undefined && failFast) throw new UsageError('Use --first or --fail-fast, not both.');
  if (failFast) return { kind: 'fail_fast' };
  return first === undefined ? undefined : { kind: 'successes', count: parseCount(first, '--first', 1, 1_000_000) };
}

/** `--model a,b` and `--model a --model b` are equivalent. */
function listOf(given: readonly string[], option: string): string[] {
  const values = given.flatMap((text) => text.split(',')).map((value) => value.trim());
  for (const [index, value] of values.entries()) {
    if (value === '') throw new UsageError(`${option}: a value is empty. Separate values with commas: ${option} a,b.`);
    if (values.indexOf(value) !== index)
      throw new UsageError(`${option}: ${value} is given twice. Use --repeat to run items more than once.`);
  }
  return values;
}

function effortOf(text: string): NonNullable<PromptStep['reasoningEffort']> {
  const effort = reasoningEfforts.find((known) => known === text);
  if (effort) return effort;
  throw new UsageError(`--effort must be one of ${reasoningEfforts.join(', ')}, not "${text}".`);
}

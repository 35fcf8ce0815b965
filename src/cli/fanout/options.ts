/** The options of `fanout`, and the policy and matrix that they describe. */
import type { FanoutPolicy, MachineType } from '../../../workflows/fanout/types.js';
import type { JobEnd, PromptStep } from '../../../workflows/job/types.js';
import { maxRetries } from '../../contract/fanout-addresses.js';
import { reasoningEfforts } from '../../contract/requests.js';
import type { ItemFormat, Matrix } from '../../fanout/index.js';
import { parseDurationMs } from '../duration.js';
import { UsageError } from '../usage-error.js';

/** As the command line parser returns them; `then` is called `end`. */
export interface FanoutOptions extends PolicyOptions {
  readonly format?: ItemFormat;
  readonly prompt: readonly string[];
  readonly provider: readonly string[];
  readonly model: readonly string[];
  readonly effort: readonly string[];
  readonly repeat: string;
  readonly put: readonly string[];
  readonly get: readonly string[];
  readonly source?: string;
  readonly snapshot?: string;
  readonly allowStale?: boolean;
  readonly environment?: string;
  readonly setup?: string;
  readonly command: readonly string[];
  readonly preparePut: readonly string[];
  readonly preparePrompt: readonly string[];
  readonly prepareType?: MachineType;
  readonly prepareDeadline?: string;
  readonly prepareThen?: 'stop' | 'delete';
  readonly id?: string;
  readonly title?: string;
  readonly notify?: string;
  readonly out?: string;
  readonly report?: string;
  readonly detach?: boolean;
  readonly dryRun?: boolean;
  readonly watchDeadline?: string;
  readonly json?: boolean;
  readonly quiet?: boolean;
}

/** Options that `fanout` and `fanout resume` share; undefined if not given. */
export interface PolicyOptions {
  readonly concurrency?: string;
  readonly retries?: string;
  readonly first?: string;
  readonly failFast?: boolean;
  readonly itemDeadline?: string;
  readonly deadline?: string;
  readonly budget?: string;
  readonly type?: MachineType;
  readonly end?: JobEnd;
  readonly ttl?: string;
  readonly onUnknown?: 'abandon' | 'resend';
}

export const defaultPolicy: FanoutPolicy = {
  concurrency: 20,
  stopAt: { kind: 'go_on' },
  retries: 0,
  itemDeadlineMs: 3_600_000,
  deadlineMs: 86_400_000,
  budgetSeconds: null,
  type: null,
  end: 'stop',
  ttlSeconds: 1_800,
  onUnknownOutcome: 'abandon',
};

/**
 * Only the options that were given.
 * @throws UsageError
 */
export function policyOf(options: PolicyOptions): Partial<FanoutPolicy> {
  const { concurrency, retries, itemDeadline, deadline, budget, type, end, ttl, onUnknown } = options;
  const stopAt = stopAtOf(options);
  return {
    ...(concurrency !== undefined && { concurrency: parseCount(concurrency, '--concurrency', 1, 2_000) }),
    ...(stopAt && { stopAt }),
    ...(retries !== undefined && { retries: parseCount(retries, '--retries', 0, maxRetries) }),
    ...(itemDeadline !== undefined && { itemDeadlineMs: parseDurationMs(itemDeadline, '--item-deadline') }),
    ...(deadline !== undefined && { deadlineMs: parseDurationMs(deadline, '--deadline') }),
    ...(budget !== undefined && { budgetSeconds: Math.floor(parseDurationMs(budget, '--budget') / 1_000) }),
    ...(type !== undefined && { type }),
    ...(end !== undefined && { end }),
    ...(ttl !== undefined && { ttlSeconds: ttlSecondsOf(ttl) }),
    ...(onUnknown !== undefined && { onUnknownOutcome: onUnknown }),
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

/** @throws UsageError naming `option` */
export function parseCount(text: string, option: string, least: number, most: number): number {
  const count = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (!(count >= least && count <= most)) {
    throw new UsageError(`${option} must be a whole number from ${least} to ${most}, not "${text}".`);
  }
  return count;
}

function stopAtOf({ first, failFast }: PolicyOptions): FanoutPolicy['stopAt'] | undefined {
  if (first !== undefined && failFast) throw new UsageError('Use --first or --fail-fast, not both.');
  if (failFast) return { kind: 'fail_fast' };
  return first === undefined ? undefined : { kind: 'successes', count: parseCount(first, '--first', 1, 1_000_000) };
}

function ttlSecondsOf(ttl: string): number {
  const ms = parseDurationMs(ttl, '--ttl');
  if (ms < 1_000) throw new UsageError('--ttl must be at least 1s.');
  return Math.ceil(ms / 1_000);
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

/** Builds the policy and the matrix that the options of `fanout` and `fanout resume` describe. */

import type { OtherFields } from '../../contract/workflow-safe/other-fields.js';
import type { Matrix } from '../../fanout/index.js';
import { jobSettings } from '../../job-settings/job-settings.js';
import type { FanoutPolicy } from '../../protocol/fanout/fanout-input.js';
import type { PromptStep } from '../../protocol/job/job-input.js';
import { fieldsOn, requireCompatible, settingOn } from '../settings/values.js';
import { escalationOf } from '../stops/escalation-options.js';
import { UsageError } from '../usage-error.js';
import type { FanoutOptions, ResumeFanoutOptions } from './options.js';

/**
 * Returns only the parts of the policy whose options were given.
 * @throws UsageError if options conflict or have wrong values
 */
export function policyOf(
  command: 'fanout' | 'resume',
  options: FanoutOptions | ResumeFanoutOptions,
  forkBody: OtherFields = {},
): Partial<FanoutPolicy> {
  requireCompatible(command, options);
  const first = settingOn(command, 'first', options);
  const escalate = escalationOf(options);
  return {
    ...(options.failFast && { stopAt: { kind: 'fail_fast' } }),
    ...(first !== undefined && { stopAt: { kind: 'successes', count: Number(first) } }),
    ...(Object.keys(forkBody).length > 0 && { forkBody }),
    ...(escalate && { escalate }),
    ...fieldsOn(command, options, ({ of, batch }) => of === 'policy' || batch !== undefined),
  };
}

/** @throws UsageError */
export function matrixOf(options: Pick<FanoutOptions, 'provider' | 'model' | 'effort' | 'repeat'>): Matrix {
  return {
    providers: listOf(options.provider, '--provider'),
    models: listOf(options.model, '--model'),
    efforts: listOf(options.effort, '--effort').map(effortOf),
    repeats: Number(settingOn('fanout', 'repeat', options) ?? jobSettings.repeat.default),
  };
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
  const { values } = jobSettings.effort;
  const effort = values.find((known) => known === text);
  if (effort) return effort;
  throw new UsageError(`--effort must be one of ${values.join(', ')}, not "${text}".`);
}

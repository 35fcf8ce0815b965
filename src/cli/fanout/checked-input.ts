/** Checks the input of a batch, and names the options of `fanout` that set its fields. */

import type { FanoutInput } from '../../protocol/fanout/fanout-input.js';
import { checkInput } from '../../settings/input-problems.js';
import { fanoutInputSchema } from '../../workflow-client/fanouts/fanout-input.js';
import { optionNameOf } from '../run/option-names.js';
import { UsageError } from '../usage-error.js';

/** By the field; an index of a list is left out. */
const optionOf: Readonly<Record<string, string>> = {
  batchId: '--id',
  title: '--title',
  'source.sandboxId': '--source',
  'source.from': '--snapshot',
  'source.body.type': '--prepare-type',
  'source.put': '--prepare-put',
  'source.commands': '--command',
  'source.prompts': '--prepare-prompt',
  'source.deadlineMs': '--prepare-deadline',
  'source.end': '--prepare-then',
  'policy.budgetSeconds': '--budget',
  'policy.itemDeadlineMs': '--item-deadline',
};

/**
 * Checks the input that the options describe and applies its defaults, as `parseFanoutInput` does.
 * @throws UsageError naming every option that is wrong: its user never wrote the names of fields
 */
export function checkedFanoutInput(input: FanoutInput): FanoutInput {
  const { data, problems } = checkInput(fanoutInputSchema, input);
  if (problems === null) return data;
  throw new UsageError(`${problems.map(({ path, message }) => `${nameOf(path)}: ${message}`).join('; ')}.`);
}

function nameOf(path: readonly PropertyKey[]): string {
  const names = path.filter((step) => typeof step === 'string');
  return optionOf[names.slice(0, 2).join('.')] ?? optionOf[names.join('.')] ?? optionNameOf(names.join('.'));
}

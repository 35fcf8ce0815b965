/** Names the options of `run` that set the fields of a job's input. */

import type { JobInput } from '../../protocol/job/job-input.js';
import { checkInput } from '../../settings/input-problems.js';
import { jobInputSchema } from '../../workflow-client/jobs/job-input.js';
import { UsageError } from '../usage-error.js';

/** By the last name of the field; `prompts.0.prompt` is the text of a prompt. */
const optionOf: Readonly<Record<string, string>> = {
  provider: '--provider',
  model: '--model',
  reasoningEffort: '--effort',
  type: '--type',
  environment: '--environment',
  from: '--from',
  noEnv: '--no-env',
  setupScript: '--setup',
  snapshots: '--no-snapshots',
  monitoring: '--no-monitoring',
  waitFor: '--wait-for',
  conversations: '--each-conversation',
  conversationId: '--conversation',
  end: '--then',
  deadlineMs: '--deadline',
  ttlSeconds: '--ttl',
  onUnknownOutcome: '--on-unknown',
  jobId: '--id',
  deployment: 'SANDFLOW_DEPLOYMENT',
};

/** By the first name of the field. */
const optionOfRoot: Readonly<Record<string, string>> = {
  put: '--put',
  collect: '--get',
  collectDiff: '--get-diff',
  notify: '--notify',
  escalate: '--escalate',
};

/** The options whose JSON holds fields that have no option of their own. */
const bodies: readonly (readonly [fields: RegExp, option: string])[] = [
  [/^prompts\.(\d+\.)?(?!prompt$)[^.]*[^.\d][^.]*$/, '--prompt-body'],
  [/^source\.(body\.|(?!body$|kind$|sandboxId$))[^.]+$/, '--create-body'],
  [/^policy\.forkBody\.[^.]+$/, '--fork-body'],
];

/** @param field names and indexes, separated by dots */
export function optionNameOf(field: string): string {
  const [first = ''] = field.split('.');
  const last = field.slice(field.lastIndexOf('.') + 1);
  const root = optionOfRoot[first];
  if (root !== undefined) return root;
  const known = optionOf[last];
  if (known !== undefined) return known;
  const body = bodies.find(([fields]) => fields.test(field))?.[1];
  if (body !== undefined) return `${body}: ${last}`;
  if (first === 'prompts') return 'the prompts';
  return first === 'source' ? 'the sandbox (--sandbox, --fork or --from)' : last;
}

/**
 * Checks the input that the options describe and applies its defaults, as `parseJobInput` does.
 * @throws UsageError naming every option that is wrong: its user never wrote the names of fields
 */
export function checkedJobInput(input: JobInput): JobInput {
  const { data, problems } = checkInput(jobInputSchema, input);
  if (problems === null) return data;
  throw new UsageError(
    `${problems.map(({ path, message }) => `${optionNameOf(path.join('.'))}: ${message}`).join('; ')}.`,
  );
}

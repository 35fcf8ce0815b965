/** Builds the job that the options of `run` describe. */
import { randomInt } from 'node:crypto';
import type { OtherFields } from '../../contract/workflow-safe/other-fields.js';
import type { JobInput, SandboxSource } from '../../protocol/job/job-input.js';
import { checkedJobInput } from '../settings/checked-input.js';
import { fieldsOn, requireCompatible, settingOn } from '../settings/values.js';
import { escalationOf } from '../stops/escalation-options.js';
import type { RunOptions } from './options.js';
import type { Scripts } from './read-prompts.js';

export interface JobParts {
  readonly deployment: string;
  readonly jobId: string;
  readonly prompts: readonly string[];
  readonly scripts: Scripts;
  /** Further fields of the request that creates or forks the sandbox. */
  readonly createBody?: OtherFields;
  /** Further fields of the request of each prompt. */
  readonly promptBody?: OtherFields;
  readonly put: JobInput['put'];
  readonly collect: readonly string[];
  readonly collectDiff?: string;
}

/**
 * Builds the input of the job, with its defaults.
 * @throws UsageError if options conflict or have wrong values
 */
export function jobInputOf(given: RunOptions, parts: JobParts): JobInput {
  const options = { ...given, ...parts.scripts };
  requireCompatible('run', options);
  const ofPrompt = fieldsOn('run', options, ({ of }) => of === 'prompt');
  return checkedJobInput({
    deployment: parts.deployment,
    jobId: parts.jobId,
    source: sourceOf(options, parts),
    put: parts.put,
    prompts: parts.prompts.map((prompt) => ({ prompt, ...ofPrompt, ...parts.promptBody })),
    collect: parts.collect,
    collectDiff: parts.collectDiff,
    escalate: escalationOf(options),
    ...fieldsOn('run', options, ({ of }) => of === 'job'),
  });
}

function sourceOf(options: RunOptions, { createBody }: JobParts): SandboxSource {
  const given = fieldsOn('run', options, ({ of }) => of === 'sandbox');
  if (options.fork !== undefined) {
    return { ...given, ...createBody, kind: 'fork', sandboxId: String(settingOn('run', 'fork', options)) };
  }
  if (options.sandbox !== undefined) {
    return { kind: 'existing', sandboxId: String(settingOn('run', 'sandbox', options)), type: options.type };
  }
  return { kind: 'create', body: { ...given, ...createBody } };
}

const alphabet = '0123456789abcdefghijklmnopqrstuvwxyz';

/** A readable id for a job without `--id`: the day and six random characters, like `0317-k3x9ab`. */
export function generateJobId(now: Date = new Date()): string {
  const day = now.toISOString().slice(5, 10).replace('-', '');
  const random = Array.from({ length: 6 }, () => alphabet[randomInt(alphabet.length)]).join('');
  return `${day}-${random}`;
}

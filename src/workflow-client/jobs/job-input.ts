/** Validates the input of a job before anything starts. */
import { posix } from 'node:path';
import { z } from 'zod';
import { deploymentProblem, jobIdProblem } from '../../addresses/addresses.js';
import { SandflowError } from '../../errors/sandflow-error.js';
import { settingsOf } from '../../job-settings/fields.js';
import type { JobInput } from '../../protocol/job/job-input.js';
import { defaultEnd } from '../../protocol/job/job-settings-with.js';
import { patchName } from '../../protocol/job/patch-name.js';
import { maxJobInputBytes } from '../../protocol/limits.js';
import type { Resolution } from '../../protocol/messages.js';
import { payloadBytes } from '../../texts/length.js';
import { addProblems, parseWith } from '../parse-with.js';
import { nameSchema, shapeOf, sourceSchema } from '../settings/setting-schemas.js';

/** A decision about a job's call whose outcome is unknown. */
export const resolutionSchema = z.strictObject({
  action: z.enum(['sent', 'resend', 'abandon']),
  sandboxId: nameSchema.optional(),
  conversationId: nameSchema.optional(),
  promptId: nameSchema.optional(),
}) satisfies z.ZodType<Resolution>;

const checkedJobSchema = (
  z.strictObject({
    deployment: z.string(),
    jobId: z.string(),
    source: sourceSchema.default({ kind: 'create', body: {} }),
    ...shapeOf(settingsOf('job')),
  }) as unknown as z.ZodType<JobInput>
).superRefine((input, context) => {
  const { deployment, prompts, commands = [], checks = [], rounds = 1 } = input;
  const jobId = jobIdProblem(deployment, input.jobId);
  addProblems(context, [
    ['prompts', prompts.length === 0 && commands.length === 0 && 'needs at least one prompt'],
    ['checks', prompts.length === 0 && checks.length > 0 && 'need at least one prompt, whose work they prove'],
    ['rounds', rounds > 1 && checks.length === 0 && 'needs checks, whose failure begins the next round'],
    ['rounds', rounds > 1 && input.conversations === 'each' && roundsNeedOneConversation],
    ['collect', collectsPatchTwice(input) && patchNameTaken],
    ['conversationId', input.conversationId !== undefined && noConversation(input)],
    ['deployment', deploymentProblem(deployment)],
    ['jobId', jobId && `the job id ${jobId}`],
  ]);
});

export const roundsNeedOneConversation =
  'must be 1 if the prompts run in parallel: a round goes on in one conversation';

/** True if the patch and a collected file would have the same name. */
export function collectsPatchTwice({
  collect = [],
  collectDiff,
}: Partial<Pick<JobInput, 'collect' | 'collectDiff'>>): boolean {
  return collectDiff !== undefined && collect.some((path) => posix.normalize(path) === patchName);
}

export const patchNameTaken = `must not have ${patchName}: this is the name of the patch`;

/** Validates a `NewJob` and applies its defaults, which makes it a `JobInput`. */
export const jobInputSchema = z.preprocess(withEnd, checkedJobSchema) satisfies z.ZodType<JobInput>;

/** Sets the default of `end`, which depends on the source of the sandbox. */
function withEnd(input: unknown): unknown {
  if (typeof input !== 'object' || input === null || ('end' in input && input.end !== undefined)) return input;
  return { ...input, end: defaultEnd((input as Partial<JobInput>).source) };
}

/** Why a job cannot continue a conversation; undefined if it can. */
function noConversation(input: Pick<JobInput, 'source' | 'conversations'>): string | undefined {
  if (input.source.kind === 'create') return 'a new sandbox has no conversation: name an existing sandbox';
  return input.conversations === 'each' ? 'prompts that run in parallel begin their own conversations' : undefined;
}

/**
 * Checks the input of a job and applies its defaults. Does not check its total size: `startJob` checks that after it
 * has moved long texts into the result store.
 * @throws SandflowError `bad_job_input`, naming every field that is wrong and what it should be
 * @example
 * const input = parseJobInput({ deployment: 'default', jobId: 'fix-1', prompts: [{ prompt: 'Fix the test.' }] });
 */
export function parseJobInput(input: unknown): JobInput {
  return parseWith(jobInputSchema, input, badJob);
}

/**
 * @throws SandflowError `bad_job_input` if the input is too large, even without its long texts, which are in the result
 * store
 */
export function checkJobSize(input: JobInput): void {
  checkSize(payloadBytes(input), maxJobInputBytes, badJob);
}

/**
 * @throws the error from `refuse`, if an input is too large even without its long texts, which are in the result store
 */
export function checkSize(bytes: number, maxBytes: number, refuse: (why: string) => Error): void {
  if (bytes <= maxBytes) return;
  const why = `without its long texts it has ${bytes} bytes, but at most ${maxBytes} are allowed`;
  throw refuse(`${why}: use fewer or shorter prompts, files and paths`);
}

export function badJob(why: string): SandflowError {
  return new SandflowError('bad_job_input', `The job cannot be started: ${why}.`);
}

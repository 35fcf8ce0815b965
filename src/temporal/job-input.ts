/** Checks the input of a job where it enters: before anything is started. */
import { z } from 'zod';
import type { JobInput } from '../../workflows/job.js';
import { deploymentProblem, jobIdProblem } from '../contract/addresses.js';
import { sandboxIdSchema, sandboxTypes } from '../contract/records.js';
import { reasoningEfforts } from '../contract/requests.js';
import { SandflowError } from '../contract/sandflow-error.js';

/** An input travels as one payload of Temporal, whose limit is 2 MiB; larger files go through the result store. */
const maxInputBytes = 1_500_000;

const positiveMs = z.number().int().positive();
const sandboxType = z.enum(sandboxTypes);
export const remotePathSchema = z
  .string()
  .min(1, 'must not be empty')
  .refine((path) => !path.includes('\0'), 'must hold no NUL');

/** Body of a create, without what the job itself sets. */
export const createBodySchema = z.strictObject({
  environment: z.string().min(1).optional(),
  from: z.string().min(1).optional(),
  noEnv: z.boolean().optional(),
  setupScript: z.string().min(1).optional(),
  snapshots: z.boolean().optional(),
  monitoring: z.boolean().optional(),
  type: sandboxType.optional(),
});

const source = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('create'), body: createBodySchema }),
  z.strictObject({ kind: z.literal('existing'), sandboxId: sandboxIdSchema, type: sandboxType.optional() }),
  z.strictObject({ kind: z.literal('fork'), sandboxId: sandboxIdSchema, type: sandboxType.optional() }),
]);

export const promptStepSchema = z.strictObject({
  prompt: z.string().refine((prompt) => prompt.trim() !== '', 'must not be empty'),
  provider: z.string().min(1).optional(),
  model: z.string().min(1).optional(),
  reasoningEffort: z.enum(reasoningEfforts).optional(),
});

export const filePutSchema = z.strictObject({
  path: remotePathSchema,
  content: z.union([z.strictObject({ base64: z.base64() }), z.strictObject({ ref: z.string().min(1) })]),
});

export const notifyTargetSchema = z
  .strictObject({ url: z.url({ protocol: /^https?$/ }).optional(), command: z.string().min(1).optional() })
  .refine((target) => target.url !== undefined || target.command !== undefined, 'needs a url or a command');

export const jobTimingSchema = z
  .strictObject({
    safetyPollFirstMs: positiveMs,
    safetyPollGrowth: z.number().min(1),
    safetyPollMaxMs: positiveMs,
    errorGraceMs: z.number().int().nonnegative(),
    cleanUpMs: positiveMs,
    readLagMs: positiveMs,
  })
  .partial();

/** The input of a `createThenPrompt` job. */
export const jobInputSchema = z
  .strictObject({
    deployment: z.string(),
    jobId: z.string(),
    source,
    waitFor: z.enum(['usable', 'hydrated']),
    put: z.array(filePutSchema),
    commands: z.array(z.string().min(1, 'must not be empty')).optional(),
    prompts: z.array(promptStepSchema),
    conversations: z.enum(['one', 'each']),
    collect: z.array(remotePathSchema),
    end: z.enum(['stop', 'delete', 'keep']),
    deadlineMs: positiveMs,
    ttlSeconds: z.number().int().positive(),
    onUnknownOutcome: z.enum(['wait', 'abandon', 'resend']),
    maxGenerations: z.number().int().min(1).max(999),
    notify: notifyTargetSchema.optional(),
    timing: jobTimingSchema.optional(),
    maxHistoryEvents: z.number().int().positive().optional(),
  })
  .superRefine((input, context) => {
    if (input.prompts.length === 0 && (input.commands ?? []).length === 0) {
      context.addIssue({ code: 'custom', path: ['prompts'], message: 'needs at least one prompt' });
    }
    const deployment = deploymentProblem(input.deployment);
    if (deployment) context.addIssue({ code: 'custom', path: ['deployment'], message: deployment });
    const jobId = jobIdProblem(input.deployment, input.jobId);
    if (jobId) context.addIssue({ code: 'custom', path: ['jobId'], message: jobId });
  }) satisfies z.ZodType<JobInput>;

/**
 * Checks the input of a job.
 * @throws SandflowError `bad_job_input`, naming every field that is wrong and what it should be
 */
export function parseJobInput(input: unknown): JobInput {
  const parsed = jobInputSchema.safeParse(input);
  if (!parsed.success) {
    throw new SandflowError('bad_job_input', `The job cannot be started: ${issuesOf(parsed.error)}.`);
  }
  const bytes = Buffer.byteLength(JSON.stringify(parsed.data));
  if (bytes > maxInputBytes) {
    throw new SandflowError(
      'bad_job_input',
      `The job cannot be started: its prompts and files take ${bytes} bytes, the most is ${maxInputBytes}. Put long texts into files.`,
    );
  }
  return parsed.data;
}

/** One line for all issues: `field: what is wrong`. */
export function issuesOf(error: z.ZodError): string {
  return error.issues
    .map((issue) => (issue.path.length > 0 ? `${issue.path.join('.')}: ${issue.message}` : issue.message))
    .join('; ');
}

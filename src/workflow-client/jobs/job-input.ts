/** Validates the input of a job before anything starts. */
import { posix } from 'node:path';
import { z } from 'zod';
import { deploymentProblem, jobIdProblem } from '../../addresses/addresses.js';
import { sandboxIdSchema, sandboxTypes } from '../../contract/records/sandbox-records.js';
import { fileProblem, leadsOutOfSandbox, leadsOutText } from '../../contract/remote-paths.js';
import { maxTtlSeconds, reasoningEfforts } from '../../contract/requests/sandbox-requests.js';
import { SandflowError } from '../../errors/sandflow-error.js';
import type { JobInput } from '../../protocol/job/job-input.js';
import { patchName } from '../../protocol/job/patch-name.js';
import { maxJobInputBytes, maxSteps, maxTextBytes } from '../../protocol/limits.js';
import type { Resolution } from '../../protocol/messages.js';
import { bytesOf } from '../../protocol/stored-text.js';
import { payloadBytes } from '../../texts/length.js';
import { parseWith } from '../parse-with.js';
import { jobEscalationSchema } from './escalation-schema.js';
import { notifyTargetSchema } from './notify-target.js';
import { openObject } from './open-object.js';

const positiveMs = z.number().int().positive();
/** A duration of up to two years. No data is kept for longer. */
export const longMs = positiveMs.max(2 * 366 * 86_400_000);
/** The auto-stop of a sandbox. The service refuses a longer one. */
export const ttlSecondsSchema = z.number().int().positive().max(maxTtlSeconds, 'must be at most 100 years');
const sandboxType = z.enum(sandboxTypes);
const name = z.string().min(1).max(200);
/** The id of a conversation of the service. */
export const conversationIdSchema = name;
export const remotePathSchema = z
  .string()
  .min(1, 'must not be empty')
  .max(4_096)
  .refine((path) => !path.includes('\0'), 'must not contain a NUL character')
  .refine((path) => !leadsOutOfSandbox(path), leadsOutText);

/** A file that a job collects. */
export const collectedPathSchema = remotePathSchema.superRefine((path, context) => {
  const problem = fileProblem(path);
  if (problem !== undefined) context.addIssue({ code: 'custom', message: `${path} ${problem}` });
});

const reference = z.string().min(1).max(1_000);

const storedTextSchema = z.strictObject({
  ref: reference,
  bytes: z.number().int().positive().max(maxTextBytes),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  head: z.string().max(200),
});

/** A text, or a reference to a text in the result store. */
export const textSchema = z.union([
  z
    .string()
    .refine((text) => text.trim() !== '', 'must not be empty')
    .refine((text) => bytesOf(text) <= maxTextBytes, `must not be longer than ${maxTextBytes} bytes`),
  storedTextSchema,
]);

/** The longest command that the service accepts. */
const maxCommandBytes = 120 * 1024;

export const commandSchema = textSchema.refine(
  (command) => bytesOf(command) <= maxCommandBytes,
  `must not be longer than ${maxCommandBytes} bytes: write a script file and run that`,
);

/** Body of a create request, without the fields that the job itself sets. */
const createBody = {
  environment: name.optional(),
  noEnv: z.boolean().optional(),
  setupScript: textSchema.optional(),
  snapshots: z.boolean().optional(),
  monitoring: z.boolean().optional(),
  type: sandboxType.optional(),
};
export const createBodySchema = openObject({ ...createBody, from: name.optional() }, ['name', 'ttlSeconds']);
/** The same where a snapshot is named beside it. */
export const snapshotBodySchema = openObject(createBody, ['name', 'ttlSeconds', 'from']);

const forkBody = {
  type: sandboxType.optional(),
  snapshots: z.boolean().optional(),
  monitoring: z.boolean().optional(),
};
/** Further fields of a fork request. */
export const forkBodySchema = openObject({}, ['name', 'ttlSeconds', ...Object.keys(forkBody)]);

const source = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('create'), body: createBodySchema }),
  z.strictObject({ kind: z.literal('existing'), sandboxId: sandboxIdSchema, type: sandboxType.optional() }),
  openObject({ kind: z.literal('fork'), sandboxId: sandboxIdSchema, ...forkBody }, ['name', 'ttlSeconds']),
]);

const promptStep = {
  prompt: textSchema,
  provider: name.optional(),
  model: name.optional(),
  reasoningEffort: z.enum(reasoningEfforts).optional(),
};
export const promptStepSchema = openObject(promptStep, ['new', 'conversationId']);

export const filePutSchema = z.strictObject({
  path: remotePathSchema,
  content: z.union([z.strictObject({ base64: z.base64() }), z.strictObject({ ref: reference })]),
});

export const jobTimingSchema = z
  .strictObject({
    safetyPollFirstMs: positiveMs,
    safetyPollGrowth: z.number().min(1),
    safetyPollMaxMs: positiveMs,
    errorGraceMs: z.number().int().nonnegative(),
    cleanUpMs: positiveMs,
    readLagMs: positiveMs,
    leaseLastsMs: positiveMs,
    renewLeaseEveryMs: positiveMs,
  })
  .partial();

/** A decision about a job's call whose outcome is unknown. */
export const resolutionSchema = z.strictObject({
  action: z.enum(['sent', 'resend', 'abandon']),
  sandboxId: name.optional(),
  conversationId: conversationIdSchema.optional(),
  promptId: name.optional(),
}) satisfies z.ZodType<Resolution>;

/** The fields that a job needs, and those that have a default: see `JobInput`. */
export type NewJob = Pick<JobInput, 'deployment' | 'jobId'> & Partial<Omit<JobInput, 'origin'>>;

const checkedJobSchema = z
  .strictObject({
    deployment: z.string(),
    jobId: z.string(),
    source: source.default({ kind: 'create', body: {} }),
    waitFor: z.enum(['usable', 'hydrated']).default('usable'),
    put: z.array(filePutSchema).max(maxSteps).default([]),
    commands: z.array(commandSchema).max(maxSteps).optional(),
    prompts: z.array(promptStepSchema).max(maxSteps).default([]),
    conversations: z.enum(['one', 'each']).default('one'),
    conversationId: conversationIdSchema.optional(),
    collect: z.array(collectedPathSchema).max(maxSteps).default([]),
    collectDiff: remotePathSchema.optional(),
    end: z.enum(['stop', 'delete', 'keep']),
    deadlineMs: longMs.default(3_600_000),
    ttlSeconds: ttlSecondsSchema.nullable().default(1_800),
    onUnknownOutcome: z.enum(['wait', 'abandon', 'resend']).default('wait'),
    maxGenerations: z.number().int().min(1).max(999).default(3),
    notify: notifyTargetSchema.optional(),
    escalate: jobEscalationSchema.optional(),
    timing: jobTimingSchema.optional(),
    maxHistoryEvents: z.number().int().positive().optional(),
  })
  .superRefine((input, context) => {
    if (input.prompts.length === 0 && (input.commands ?? []).length === 0) {
      context.addIssue({ code: 'custom', path: ['prompts'], message: 'needs at least one prompt' });
    }
    if (collectsPatchTwice(input)) context.addIssue({ code: 'custom', path: ['collect'], message: patchNameTaken });
    const refused = input.conversationId === undefined ? undefined : noConversation(input);
    if (refused) context.addIssue({ code: 'custom', path: ['conversationId'], message: refused });
    const deployment = deploymentProblem(input.deployment);
    if (deployment) context.addIssue({ code: 'custom', path: ['deployment'], message: deployment });
    const jobId = jobIdProblem(input.deployment, input.jobId);
    if (jobId) context.addIssue({ code: 'custom', path: ['jobId'], message: `the job id ${jobId}` });
  });

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
  const { source: given } = input as { readonly source?: { readonly kind?: unknown } };
  return { ...input, end: given?.kind === 'existing' ? 'keep' : 'stop' };
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

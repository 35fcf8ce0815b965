/** The schemas of settings, derived from the rows of `jobSettings`. */
import { z } from 'zod';
import { sandboxIdSchema } from '../../contract/records/sandbox-records.js';
import { collectProblem, leadsOutOfSandbox, leadsOutText } from '../../contract/remote-paths.js';
import { maxCommandBytes, maxTtlSeconds } from '../../contract/workflow-safe/limits.js';
import { fieldOf, forkRows, type Rows, settingsOf } from '../../job-settings/fields.js';
import type { Kind, Setting } from '../../job-settings/setting.js';
import type { PromptStep, SandboxSource } from '../../protocol/job/job-input.js';
import { maxFolderParts, maxInlineTextBytes, maxSteps, maxTextBytes } from '../../protocol/limits.js';
import { bytesOf } from '../../protocol/stored-text.js';
import { editsBetween } from '../../texts/edits.js';
import { jobEscalationSchema } from './escalation-schema.js';
import { notifyTargetSchema } from './notify-target.js';

const positiveMs = z.number().int().positive();
/** A duration of up to two years. No data is kept for longer. */
export const longMsSchema = positiveMs.max(2 * 366 * 86_400_000);
/** A name or an id. */
export const nameSchema = z.string().min(1).max(200);

const remotePathSchema = z
  .string()
  .min(1, 'must not be empty')
  .max(4_096)
  .refine((path) => !path.includes('\0'), 'must not contain a NUL character')
  .refine((path) => !leadsOutOfSandbox(path), leadsOutText);

/** A file or a folder that a job collects. */
const collectedPathSchema = remotePathSchema.superRefine((path, context) => {
  const problem = collectProblem(path);
  if (problem !== undefined) context.addIssue({ code: 'custom', message: `${path} ${problem}` });
});

const reference = z.string().min(1).max(1_000);

const storedTextSchema = z.strictObject({
  ref: reference,
  bytes: z.number().int().positive().max(maxTextBytes),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  head: z.string().max(200),
});

const inlineTextSchema = z
  .string()
  .refine((text) => text.trim() !== '', 'must not be empty')
  .refine((text) => !text.includes('\0'), 'must not contain a NUL character')
  .refine((text) => bytesOf(text) <= maxTextBytes, `must not be longer than ${maxTextBytes} bytes`);

/** A text, or a reference to a text in the result store. */
export const textSchema = z.union([inlineTextSchema, storedTextSchema]);

const commandSchema = textSchema.refine(
  (command) => bytesOf(command) <= maxCommandBytes,
  `must not be longer than ${maxCommandBytes} bytes: write a script file and run that`,
);

const filePutSchema = z.strictObject({
  path: remotePathSchema,
  content: z.union([
    z.strictObject({ base64: z.base64() }),
    z.strictObject({ ref: reference }),
    z.strictObject({ tarGz: z.array(reference).min(1).max(maxFolderParts) }),
  ]),
});

/** Intervals that tests shorten. */
export const jobTimingSchema = z
  .strictObject({
    safetyPollFirstMs: positiveMs,
    safetyPollGrowth: z.number().min(1),
    safetyPollMaxMs: positiveMs,
    promptPollMaxMs: positiveMs,
    commandSilenceMs: positiveMs,
    errorGraceMs: z.number().int().nonnegative(),
    cleanUpMs: positiveMs,
    readLagMs: positiveMs,
    leaseLastsMs: positiveMs,
    renewLeaseEveryMs: positiveMs,
  })
  .partial();

const stopAt = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('go_on') }),
  z.strictObject({ kind: z.literal('fail_fast') }),
  z.strictObject({ kind: z.literal('successes'), count: z.number().int().min(1) }),
]);

/** The schema of each kind of value. */
export const schemas = {
  choice: ({ values = [] }: Setting) => z.enum(values as readonly [string, ...string[]]),
  name: ({ most = 800 }: Partial<Setting> = {}) =>
    nameSchema.refine((name) => bytesOf(name) <= most, `must not be longer than ${most} bytes`),
  text: () => textSchema,
  template: ({ most = maxInlineTextBytes, names = [] }: Setting) =>
    inlineTextSchema
      .refine((text) => bytesOf(text) <= most, `must not be longer than ${most} bytes`)
      .refine(
        (text) => [...text.matchAll(/\{\{([^{}]*)\}\}/g)].every(([, name = '']) => names.includes(name.trim())),
        `may name only ${names.map((name) => `{{${name}}}`).join(', ')}`,
      ),
  duration: () => longMsSchema,
  ttl: () => z.number().int().positive().max(maxTtlSeconds, 'must be at most 100 years'),
  budget: () => z.number().positive(),
  count: ({ least = 0, most = Number.MAX_SAFE_INTEGER }: Setting) => z.number().int().min(least).max(most),
  flag: () => z.boolean(),
  sandbox: () => sandboxIdSchema,
  prompts: () => z.array(promptStepSchema).max(maxSteps),
  commands: ({ most = maxSteps }: Partial<Setting> = {}) => z.array(commandSchema).max(most),
  files: () => z.array(filePutSchema).max(maxSteps),
  paths: () => z.array(collectedPathSchema).max(maxSteps),
  folder: () => remotePathSchema,
  labels: () => z.record(z.string(), z.string()),
  fields: () => openObject({}, [...ownFields, ...Object.keys(forked)]),
  notify: () => notifyTargetSchema,
  escalation: () => jobEscalationSchema,
  timing: () => jobTimingSchema,
  stopAt: () => stopAt,
} satisfies Readonly<Record<Kind, (row: Setting) => z.ZodType>>;

/** The schema of a row's value, without its default. */
function schemaOf(row: Setting): z.ZodType {
  const schema: z.ZodType = schemas[row.kind](row);
  return row.orNull ? schema.nullable() : schema;
}

/** The shape of the fields that the rows describe, with their defaults. */
export function shapeOf(rows: Rows): Readonly<Record<string, z.ZodType>> {
  const shape = (row: Setting) => {
    const schema = schemaOf(row);
    if (row.default !== undefined) return schema.default(row.default);
    return row.required ? schema : schema.optional();
  };
  return Object.fromEntries(Object.entries(rows).map(([key, row]) => [fieldOf(key, row), shape(row)]));
}

/** What sandflow itself sets in every request that creates a sandbox. */
const ownFields = ['name', 'ttlSeconds'];
type CreateBody = Extract<SandboxSource, { kind: 'create' }>['body'];

// Digests depend on the order.
const { type = z.never(), from = z.never(), ...others } = shapeOf(settingsOf('sandbox'));
const created = { ...others, type };
/** The body of a create request, without the fields that the job itself sets. */
export const createBodySchema = openObject({ ...created, from }, ownFields) as unknown as z.ZodType<CreateBody>;
/** The same where a snapshot is named beside it. */
export const snapshotBodySchema = openObject(created, [...ownFields, 'from']) as unknown as z.ZodType<
  CreateBody & { readonly from?: never }
>;
const forked = shapeOf(forkRows());

/** The source of a job's sandbox. */
export const sourceSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('create'), body: createBodySchema }),
  z.strictObject({ kind: z.literal('existing'), sandboxId: sandboxIdSchema, type }),
  openObject({ kind: z.literal('fork'), sandboxId: sandboxIdSchema, ...forked }, ownFields),
]) as unknown as z.ZodType<SandboxSource>;

export const promptStepSchema = openObject({ prompt: textSchema, ...shapeOf(settingsOf('prompt')) }, [
  'new',
  'conversationId',
]) as unknown as z.ZodType<PromptStep>;

/**
 * An object of these fields, and of any others. Refuses a field that looks like a misspelt one.
 * @param setBySandflow names of fields of the request that the object may not have
 */
function openObject<Shape extends z.ZodRawShape>(shape: Shape, setBySandflow: readonly string[]) {
  return z
    .object(shape)
    .catchall(z.json().optional())
    .superRefine((value, context) => {
      for (const name of Object.keys(value)) {
        if (Object.hasOwn(shape, name)) continue;
        const meant = Object.keys(shape).find((known) => isMisspelt(name, known));
        const hint = meant === undefined ? 'sandflow sets this field itself' : `unknown field, did you mean ${meant}?`;
        if (meant !== undefined || setBySandflow.includes(name)) {
          context.addIssue({ code: 'custom', path: [name], message: hint });
        }
      }
    });
}

function isMisspelt(name: string, known: string): boolean {
  if (Math.abs(name.length - known.length) > 2) return false;
  return editsBetween(name.toLowerCase(), known.toLowerCase()) <= Math.min(2, known.length / 3);
}

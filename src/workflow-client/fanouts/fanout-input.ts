/** Validates a batch and its items before anything starts. */
import { z } from 'zod';
import { deploymentProblem, jobIdProblem } from '../../addresses/addresses.js';
import { sandboxIdSchema } from '../../contract/records/sandbox-records.js';
import { SandflowError } from '../../errors/sandflow-error.js';
import { itemRows, policyRows } from '../../job-settings/fields.js';
import type { FanoutInput, FanoutItem, FanoutPolicy, FanoutSource } from '../../protocol/fanout/fanout-input.js';
import { maxBytesInChunk, maxJobInputBytes } from '../../protocol/limits.js';
import { payloadBytes } from '../../texts/length.js';
import { checkSize, collectsPatchTwice, patchNameTaken, roundsNeedOneConversation } from '../jobs/job-input.js';
import { addProblems, parseWith } from '../parse-with.js';
import { notifyTargetSchema } from '../settings/notify-target.js';
import {
  createBodySchema,
  jobTimingSchema,
  longMsSchema,
  schemas,
  shapeOf,
  snapshotBodySchema,
  textSchema,
} from '../settings/setting-schemas.js';

/**
 * Each run of a batch passes the input on to the next run, together with its state. Both must fit into one payload.
 */
const maxInputBytes = 600_000;
/** An item must fit into the input of its job, and into a chunk together with the chunk's other fields. */
const maxItemBytes = Math.min(maxJobInputBytes, maxBytesInChunk) - 5_000;
/** A source without its long texts, so that it and the largest item fit into a chunk. */
const maxSourceBytes = 300_000;
const source = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('sandbox'), sandboxId: sandboxIdSchema, allowStale: z.boolean() }),
  z.strictObject({
    kind: z.literal('snapshot'),
    from: z.string().min(1).max(200),
    body: snapshotBodySchema,
  }),
  z
    .strictObject({
      kind: z.literal('prepare'),
      body: createBodySchema,
      put: schemas.files(),
      commands: schemas.commands(),
      prompts: schemas.prompts(),
      deadlineMs: longMsSchema,
      end: z.enum(['stop', 'delete']),
    })
    .refine(
      ({ body }) => body.snapshots !== false,
      'must have snapshots on: without a snapshot there is nothing to fork',
    ),
]);

/** Validates a `FanoutPolicy` and applies its defaults. */
export const fanoutPolicySchema = z.strictObject(shapeOf(policyRows())) as unknown as z.ZodType<FanoutPolicy>;
/** The default policy of a batch. */
export const defaultPolicy: FanoutPolicy = fanoutPolicySchema.parse({});

/** The settings that a batch needs, and those that have a default: see `FanoutPolicy`. */
export type NewFanout = Omit<FanoutInput, 'policy'> & { readonly policy?: Partial<FanoutPolicy> };

const pace = z
  .strictObject({
    reportEveryMs: longMsSchema,
    checkChunksEveryMs: longMsSchema,
    recoverEveryMs: longMsSchema,
    maxHistoryEvents: z.number().int().positive().nullable(),
    maxMessages: z.number().int().positive(),
  })
  .partial();

/** Validates a `FanoutInput` and applies its defaults. */
export const fanoutInputSchema = z
  .strictObject({
    deployment: z.string(),
    batchId: z.string(),
    source: source.optional(),
    policy: fanoutPolicySchema.prefault(defaultPolicy),
    title: schemas.name().optional(),
    notify: notifyTargetSchema.optional(),
    timing: jobTimingSchema.optional(),
    pace: pace.optional(),
  })
  .superRefine((input, context) => {
    const { deployment, policy } = input;
    const batchId = jobIdProblem(deployment, input.batchId);
    addProblems(context, [
      ['deployment', deploymentProblem(deployment)],
      ['batchId', batchId && `the batch id ${batchId}`],
      ['policy.conversationId', policy.conversationId !== undefined && noConversation(input)],
      ['policy.rounds', (policy.rounds ?? 1) > 1 && policy.conversations === 'each' && roundsNeedOneConversation],
      ['policy.end', policy.budgetSeconds !== null && policy.end === 'keep' && keptForks],
    ]);
  }) satisfies z.ZodType<FanoutInput>;

/** Why the items of a batch cannot continue a conversation; undefined if they can. */
function noConversation({
  source,
  policy,
}: Pick<FanoutInput, 'source'> & { readonly policy: Partial<FanoutPolicy> }): string | undefined {
  if (source && source.kind !== 'sandbox')
    return 'only a sandbox as the source (--source) has a conversation that forks continue';
  return policy.conversations === 'each' ? 'prompts that run in parallel begin their own conversations' : undefined;
}

const keptForks =
  'must be stop or delete if there is a budget, because a budget cannot limit forks that continue to run';

/** A column may be empty, unlike a prompt. */
const columnSchema = z.union([z.literal(''), textSchema]);

export const fanoutItemSchema = (
  z.strictObject({
    id: z.string().min(1).max(200),
    prompts: schemas.prompts().min(1, 'needs at least one prompt'),
    ...shapeOf(itemRows()),
    labels: z
      .record(z.string().max(100), z.string().max(4_000))
      .refine((labels) => Object.keys(labels).length <= 100, 'must have at most 100 entries')
      .optional(),
    columns: z.record(z.string(), columnSchema).optional(),
  }) as unknown as z.ZodType<FanoutItem>
).superRefine((item, context) => {
  addProblems(context, [['collect', collectsPatchTwice(item) && patchNameTaken]]);
});

/**
 * Checks the settings of a batch and applies their defaults. Does not check its items. Does not check the total size:
 * `submitFanout` does so after it has moved long texts into the result store.
 * @throws SandflowError `bad_fanout_input`, naming every field that is wrong and what it should be
 * @example
 * const input = parseFanoutInput(JSON.parse(await readFile('batch.json', 'utf8')));
 */
export function parseFanoutInput(input: unknown): FanoutInput {
  return parseWith(fanoutInputSchema, input, badBatch);
}

/**
 * @throws SandflowError `bad_fanout_input` if the input is too large, even without its long texts, which are in the
 * result store
 */
export function checkFanoutSize(input: FanoutInput): void {
  checkSize(payloadBytes(input), maxInputBytes, badBatch);
}

export function badBatch(why: string): SandflowError {
  return bad(`The batch cannot be started: ${why}.`);
}

/**
 * Checks an item, except its size.
 * @param index the place of the item in the batch, from 0, for the message
 * @param refuse the error of an item that is wrong. Default: SandflowError `bad_fanout_input`
 */
export function parseFanoutItem(
  item: unknown,
  index: number,
  policy?: Pick<FanoutPolicy, 'budgetSeconds'>,
  refuse = (why: string): Error => badItem(index, why),
): FanoutItem {
  const parsed = parseWith(fanoutItemSchema, item, refuse);
  if (policy?.budgetSeconds != null && parsed.end === 'keep') throw refuse(`end: ${keptForks}`);
  return parsed;
}

/** @throws the error of `refuse` if the item is too large, even without its long texts, which are in the result store */
export function checkItemSize(item: FanoutItem, refuse: (why: string) => Error): void {
  checkSize(itemBytes(item), maxItemBytes, refuse);
}

/**
 * Checks the source of an item, except the size of its long texts.
 * @throws the error of `refuse`
 */
export function parseItemSource(
  given: unknown,
  policy: Partial<FanoutPolicy>,
  refuse: (why: string) => Error,
): FanoutSource {
  const parsed = parseWith(source, given, refuse);
  const conversation = policy.conversationId === undefined ? undefined : noConversation({ source: parsed, policy });
  if (conversation) throw refuse(`source: ${conversation}`);
  return parsed;
}

/** @throws the error of `refuse` if the source is too large, even without its long texts */
export function checkSourceSize(given: FanoutSource, refuse: (why: string) => Error): void {
  checkSize(payloadBytes(given), maxSourceBytes, refuse);
}

export function badItem(index: number, why: string): SandflowError {
  return bad(`Item ${index + 1} cannot be submitted: ${why}.`);
}

/** The size of an item in its chunk. */
export function itemBytes(item: FanoutItem): number {
  return payloadBytes(item) + 1;
}

export function bad(message: string): SandflowError {
  return new SandflowError('bad_fanout_input', message);
}

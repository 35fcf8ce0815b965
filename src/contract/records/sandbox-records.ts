/**
 * Records of the service as zod schemas. Responses are read liberally (assumptions, first rule): unlisted fields pass
 * through, and an unknown value of an enum is kept as a string. Only the fields that a caller cannot do without are
 * required.
 */
import { z } from 'zod';
import { idPatterns } from '../workflow-safe/ids.js';
import { deletionStatuses, promptStatuses, sandboxStates, stopStatuses } from '../workflow-safe/states.js';
import { idText, shortText } from './short-text.js';

/**
 * An enum of a response. Editors and the OpenAPI document show the known values; unknown values are kept.
 */
export function openEnum<const T extends string>(values: readonly T[], description?: string) {
  return shortText().meta({ enum: [...values], description }) as unknown as z.ZodType<T | (string & {}), string>;
}

/** A moment, or null. The OpenAPI document gives its format, but a reader does not check the format. */
export const dateTimeOrNull = (description: string) =>
  shortText().meta({ format: 'date-time' }).nullish().describe(description);

/** Times since the epoch are seconds up to this number, and else milliseconds. */
const mostSeconds = 1e11;
const momentOf = (value: unknown) => {
  const at = typeof value === 'number' && new Date(value < mostSeconds ? value * 1_000 : value);
  return at && !Number.isNaN(at.getTime()) ? at.toISOString() : value;
};

/** Like `dateTimeOrNull`, but a number is read as the time since the epoch. Only for times that decide nothing. */
const anyTimeOrNull = (description: string) => z.preprocess(momentOf, dateTimeOrNull(description));

/** Validates a sandbox id (specification, "Resources and their fields"). */
export const sandboxIdSchema = z
  .string()
  .regex(idPatterns.sandbox, 'must be bx_ and eight characters of the id alphabet')
  .describe('Sandbox id');

/** The record of a stop (specification, "Resources and their fields"). */
export const stopOperationSchema = z
  .looseObject({
    id: shortText().describe('Stable id. Another stop request returns the same id while this stop is pending'),
    status: openEnum(
      stopStatuses,
      'pending: archiving. failing: the last attempt failed and is retried. completed: archived. superseded: a resume ended it first',
    ),
    requestedAt: dateTimeOrNull(
      'When it was accepted. Null on the sandbox once the stop has ended, and kept when the stop is read by its id',
    ),
    lastAttemptAt: dateTimeOrNull('When the last archival attempt ended'),
    error: z.string().nullish().describe('Why the last attempt failed. Set while the status is failing'),
    endedAt: dateTimeOrNull('When it was completed or superseded'),
  })
  .meta({
    id: 'StopOperation',
    required: ['id', 'status', 'requestedAt', 'lastAttemptAt', 'error', 'endedAt'],
    description: 'A stop of a sandbox',
  });
export type StopOperation = z.infer<typeof stopOperationSchema>;

/** Progress of a restore (specification, "Resources and their fields"). */
export const hydrationSchema = z
  .looseObject({
    phase: z
      .string()
      .describe(
        'dvol, sysdelta, images, hydrating or reconciling. degraded and stuck mean that a step failed and is retried',
      ),
    entriesDone: z.number().describe('Files, directories and links copied so far'),
    entriesTotal: z.number().nullable().describe('Null for the first seconds'),
    percent: z.number().nullable().describe('0 to 99. hydrated signals the end'),
  })
  .meta({ id: 'Hydration', description: 'Progress of a restore' });

/** Machine time since the first of this month, 00:00 UTC, multiplied by the machine's multiplier. */
export const usageSchema = z
  .looseObject({
    since: shortText().meta({ format: 'date-time', description: 'First of this month, 00:00 UTC' }),
    seconds: z.number().describe('Billable machine-seconds, multiplier applied'),
    dollars: z.number().describe('At list price'),
  })
  .meta({ id: 'Usage', description: 'Get the machine time of this month' });

/** Machine sizes (specification, "Resources and their fields"). */
export const sandboxTypes = ['small', 'default', 'large', 'xlarge'] as const;
/** Statuses of a snapshot (specification, "Resources and their fields"). */
export const snapshotStatuses = ['queued', 'in_progress', 'completed', 'failed', 'cancelled'] as const;

/** The record of a sandbox (specification, "Resources and their fields"). */
export const sandboxSchema = z
  .looseObject({
    id: shortText().meta({ pattern: idPatterns.sandbox.source, description: 'Sandbox id' }),
    name: z.string().optional().describe('Display name'),
    state: openEnum(sandboxStates, 'State of the sandbox. It accepts prompts while it is ready, idle or running'),
    error: z.string().nullish().describe('Why it is stopped, failed or cancelled'),
    dataExpiredAt: dateTimeOrNull('When the snapshot data of a stopped sandbox was deleted, 14 days after it stopped'),
    health: openEnum(['ok', 'degraded'], 'degraded: alive but not fully reachable').optional(),
    healthReason: z.string().nullish().describe('Why degraded'),
    degradedSince: dateTimeOrNull('When it became degraded'),
    hydrated: z.boolean().optional().describe('True once every file of the snapshot is on disk'),
    hydratedAt: dateTimeOrNull('When the last resume or fork finished copying files'),
    hydration: hydrationSchema.nullish().describe('Only on GET of one sandbox, while it is not hydrated'),
    type: openEnum(sandboxTypes, 'Machine size').optional(),
    vcpu: z.number().optional().describe('vCPUs of the type'),
    memoryGB: z.number().optional().describe('RAM of the type in GB'),
    billingMultiplier: z.number().optional().describe('Multiplier of machine time: 0.5, 1, 2 or 50/9'),
    machineProvider: z.string().nullish().describe('hetzner or baremetal. Null without a machine'),
    url: z.string().nullish().describe('Machine URL when assigned'),
    ip: z.string().nullish().describe('Machine address when assigned'),
    sshEndpoint: z.string().nullish().describe('host:port of the SSH server. Connect with ssh -p PORT user@HOST'),
    createdAt: dateTimeOrNull('When it was created'),
    updatedAt: dateTimeOrNull('When it last changed'),
    archiveAfter: dateTimeOrNull('When auto-stop stops it. Null if auto-stop is disabled'),
    ttlSeconds: z.number().nullish().describe('Auto-stop length as last set. Null if auto-stop is disabled'),
    desktopAvailable: z.boolean().optional().describe('Whether a desktop is available'),
    desktopUrl: z.string().nullish().describe('URL of the desktop stream. It is a secret: keep it out of logs'),
    snapshots: z.boolean().optional().describe('False when created with snapshots off'),
    monitoring: z.boolean().optional().describe('False when created with monitoring off'),
    snapshotAvailable: z.boolean().optional().describe('Whether a snapshot exists'),
    snapshotCompletedAt: dateTimeOrNull('Most recent completed snapshot'),
    snapshotVerifiedAt: dateTimeOrNull('Last time a snapshot confirmed the saved state'),
    lastSnapshotAttemptAt: dateTimeOrNull('Most recent snapshot attempt of any status'),
    lastSnapshotStatus: openEnum(snapshotStatuses, 'Status of the latest attempt').nullish(),
    team: z.looseObject({ id: shortText(), name: z.string() }).nullish().describe('Organization that is billed'),
    createdBy: z.string().nullish().describe('Display name of the creator'),
    createdById: shortText().nullish().describe('Account id of the creator'),
    access: openEnum(['owner', 'use', 'view'], 'What the caller may do').optional(),
    holdsCreatorLogins: z.boolean().optional().describe('True while it holds personal logins of its creator'),
    visibility: openEnum(['shared', 'private'], 'Organization sandboxes only').nullish(),
    wipePendingUntilRestart: z.boolean().optional().describe('True if it was shared and has not restarted since'),
    cost: usageSchema.optional().describe('Only with include=cost on the list'),
    subdomain: z.string().nullish().describe('Stable three-word slug'),
    setupStatus: openEnum(['pending', 'running', 'done', 'failed'], 'Outcome of the setup script').nullish(),
    setupError: z.string().nullish().describe('Exit code and the end of stderr when failed'),
    environment: z.string().nullish().describe('Name of the environment. Null if the sandbox has no environment'),
    environmentVersion: z.number().nullish().describe('Version of the environment that it is pinned to'),
    stop: stopOperationSchema.nullish().describe('The last stop requested'),
  })
  .meta({
    id: 'Sandbox',
    required: ['id', 'name', 'state', 'desktopAvailable', 'snapshotAvailable'],
    description: 'A sandbox',
  });
/** A sandbox as the service returns it. */
export type Sandbox = z.infer<typeof sandboxSchema>;

/** Assumption: the prompt run record is not shown by the specification. */
export const promptSchema = z
  .looseObject({
    id: idText().describe('prm_ and 24 hex digits'),
    sandboxId: shortText().optional(),
    conversationId: idText().nullish().describe('conv_ and 24 hex digits'),
    provider: z.string().nullish(),
    model: z.string().nullish(),
    reasoningEffort: z.string().nullish(),
    status: openEnum(promptStatuses, 'completed, failed and interrupted are final'),
    queuedAt: anyTimeOrNull('When accepted'),
    startedAt: anyTimeOrNull('When the agent began'),
    endedAt: anyTimeOrNull('When it ended'),
    result: z.string().nullish().describe("The agent's last message"),
    error: z.string().nullish().describe('Why it failed'),
  })
  .meta({ id: 'Prompt', description: 'A prompt and its outcome' });
export type Prompt = z.infer<typeof promptSchema>;

const historyEventTypes = [
  'prompt.queued',
  'prompt.started',
  'agent.message',
  'agent.tool',
  'agent.usage',
  'prompt.completed',
  'prompt.failed',
  'prompt.interrupted',
] as const;

/** Assumption: the shape of an event of the history is not shown by the specification. */
export const sandboxHistoryEventSchema = z
  .looseObject({
    id: idText().describe('sev_ and 24 hex digits, ordered within the sandbox'),
    type: openEnum(historyEventTypes, 'What happened'),
    conversationId: idText().nullish(),
    promptId: idText().nullish(),
    createdAt: anyTimeOrNull('When it happened'),
    data: z
      .looseObject({})
      .optional()
      .describe(
        'agent.message carries text, prompt.queued carries prompt, agent.usage the tokens that the agent says it used',
      ),
  })
  .meta({
    id: 'HistoryEvent',
    required: ['id', 'type', 'createdAt'],
    description: 'An event of the history of a sandbox',
  });
export type SandboxHistoryEvent = z.infer<typeof sandboxHistoryEventSchema>;

/** Assumption: the deletion-operation record is not shown by the specification. */
export const deletionOperationSchema = z
  .looseObject({
    id: shortText().describe('del_ and 24 hex digits'),
    sandboxId: shortText().nullish(),
    snapshotId: shortText().nullish(),
    status: openEnum(deletionStatuses, 'Poll until completed'),
    requestedAt: dateTimeOrNull('When accepted'),
    completedAt: dateTimeOrNull('When done'),
    error: z.string().nullish().describe('Why it failed'),
  })
  .meta({ id: 'DeletionOperation', description: 'A deletion that is in progress or done' });
export type DeletionOperation = z.infer<typeof deletionOperationSchema>;

/** The answer to a deletion. Assumption: `A-deletion-operation`, the field of the operation's id. */
export const deletionStartedSchema = z.looseObject({
  operationId: shortText().nullish(),
  operation: deletionOperationSchema.partial({ status: true }).nullish(),
});

/** The record of a webhook. Assumption: `A-webhook-record`. */
export const webhookSchema = z
  .looseObject({
    id: shortText().describe('wh_ and 24 hex digits'),
    name: z.string().optional(),
    url: z.string(),
    events: z.array(z.string()).describe('Names of the events that are delivered'),
  })
  .meta({ id: 'Webhook', description: 'A registered webhook. Its secret is shown only on create and rotate' });
export type Webhook = z.infer<typeof webhookSchema>;

/** The record of the account. */
export const userSchema = z
  .looseObject({
    login: z.string(),
    email: z.string().optional(),
    zeroDataRetention: z.boolean().optional(),
    zeroDataRetentionEnabledAt: dateTimeOrNull('When it was switched on'),
  })
  .meta({
    id: 'User',
    required: ['login', 'email', 'zeroDataRetention', 'zeroDataRetentionEnabledAt'],
    description: 'The current user',
  });
export type User = z.infer<typeof userSchema>;

/** The models of a provider. Assumption: `A-provider-models`. */
export const providerModelsSchema = z
  .looseObject({
    provider: z.string(),
    aliases: z.array(z.string()).optional(),
    configured: z.boolean().optional().describe('Whether its credentials are configured'),
    models: z
      .array(z.looseObject({ model: z.string(), reasoningEfforts: z.array(z.string()).optional() }))
      .optional()
      .describe('Every model, and the reasoning efforts that it accepts'),
  })
  .meta({ id: 'Provider', description: 'An agent provider' });
export type ProviderModels = z.infer<typeof providerModelsSchema>;

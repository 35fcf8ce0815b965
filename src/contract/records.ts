/**
 * Records of the service as zod schemas. Responses are read liberally (assumptions, first rule): fields that nobody
 * listed pass through, and an unknown value of an enum stays the string that it was. What is required here is what a
 * caller cannot do without.
 */
import { z } from 'zod';
import { idPatterns } from './ids.js';
import type { PromptStatus, SandboxState, StopStatus } from './states.js';

/** An enum of a response: known values complete in an editor, unknown ones are kept. */
const openEnum = <T extends string>() => z.string() as unknown as z.ZodType<T | (string & {}), string>;
const dateTime = z.string().nullish();

export const sandboxIdSchema = z.string().regex(idPatterns.sandbox, 'must be bx_ and eight characters of its alphabet');

export const stopOperationSchema = z.looseObject({
  id: z.string(),
  status: openEnum<StopStatus>(),
  requestedAt: dateTime,
  lastAttemptAt: dateTime,
  error: z.string().nullish(),
  endedAt: dateTime,
});
export type StopOperation = z.infer<typeof stopOperationSchema>;

export const hydrationSchema = z.looseObject({
  phase: z.string(),
  entriesDone: z.number(),
  entriesTotal: z.number().nullable(),
  percent: z.number().nullable(),
});

/** Machine time since the first of this month, 00:00 UTC, the machine's multiplier applied. */
export const usageSchema = z.looseObject({ since: z.string(), seconds: z.number(), dollars: z.number() });

export const sandboxTypes = ['small', 'default', 'large', 'xlarge'] as const;

export const sandboxSchema = z.looseObject({
  id: z.string(),
  name: z.string().optional(),
  state: openEnum<SandboxState>(),
  error: z.string().nullish(),
  dataExpiredAt: dateTime,
  health: openEnum<'ok' | 'degraded'>().optional(),
  healthReason: z.string().nullish(),
  degradedSince: dateTime,
  hydrated: z.boolean().optional(),
  hydratedAt: dateTime,
  hydration: hydrationSchema.nullish(),
  type: openEnum<(typeof sandboxTypes)[number]>().optional(),
  vcpu: z.number().optional(),
  memoryGB: z.number().optional(),
  billingMultiplier: z.number().optional(),
  machineProvider: z.string().nullish(),
  url: z.string().nullish(),
  ip: z.string().nullish(),
  sshEndpoint: z.string().nullish(),
  createdAt: dateTime,
  updatedAt: dateTime,
  archiveAfter: dateTime,
  ttlSeconds: z.number().nullish(),
  desktopAvailable: z.boolean().optional(),
  desktopUrl: z.string().nullish(),
  snapshots: z.boolean().optional(),
  monitoring: z.boolean().optional(),
  snapshotAvailable: z.boolean().optional(),
  snapshotCompletedAt: dateTime,
  snapshotVerifiedAt: dateTime,
  lastSnapshotAttemptAt: dateTime,
  lastSnapshotStatus: openEnum<'queued' | 'in_progress' | 'completed' | 'failed' | 'cancelled'>().nullish(),
  team: z.looseObject({ id: z.string(), name: z.string() }).nullish(),
  createdBy: z.string().nullish(),
  createdById: z.string().nullish(),
  access: openEnum<'owner' | 'use' | 'view'>().optional(),
  holdsCreatorLogins: z.boolean().optional(),
  visibility: openEnum<'shared' | 'private'>().nullish(),
  wipePendingUntilRestart: z.boolean().optional(),
  cost: usageSchema.optional(),
  subdomain: z.string().nullish(),
  setupStatus: openEnum<'pending' | 'running' | 'done' | 'failed'>().nullish(),
  setupError: z.string().nullish(),
  environment: z.string().nullish(),
  environmentVersion: z.number().nullish(),
  stop: stopOperationSchema.nullish(),
});
export type Sandbox = z.infer<typeof sandboxSchema>;

/** Assumption: the prompt run record is not shown by the specification. */
export const promptSchema = z.looseObject({
  id: z.string(),
  sandboxId: z.string().optional(),
  conversationId: z.string().nullish(),
  provider: z.string().nullish(),
  model: z.string().nullish(),
  reasoningEffort: z.string().nullish(),
  status: openEnum<PromptStatus>(),
  queuedAt: dateTime,
  startedAt: dateTime,
  endedAt: dateTime,
  result: z.string().nullish(),
  error: z.string().nullish(),
});
export type Prompt = z.infer<typeof promptSchema>;

/** Assumption: the item shape of the event history is not shown by the specification. */
export const sandboxHistoryEventSchema = z.looseObject({
  id: z.string(),
  type: openEnum<
    | 'prompt.queued'
    | 'prompt.started'
    | 'agent.message'
    | 'agent.tool'
    | 'prompt.completed'
    | 'prompt.failed'
    | 'prompt.interrupted'
  >(),
  conversationId: z.string().nullish(),
  promptId: z.string().nullish(),
  createdAt: z.string(),
  data: z.looseObject({}).optional(),
});
export type SandboxHistoryEvent = z.infer<typeof sandboxHistoryEventSchema>;

/** Assumption: the deletion-operation record is not shown by the specification. */
export const deletionOperationSchema = z.looseObject({
  id: z.string(),
  sandboxId: z.string().nullish(),
  snapshotId: z.string().nullish(),
  status: openEnum<'pending' | 'running' | 'completed' | 'failed'>(),
  requestedAt: dateTime,
  completedAt: dateTime,
  error: z.string().nullish(),
});
export type DeletionOperation = z.infer<typeof deletionOperationSchema>;

export const webhookSchema = z.looseObject({
  id: z.string(),
  name: z.string().optional(),
  url: z.string(),
  events: z.array(z.string()),
});
export type Webhook = z.infer<typeof webhookSchema>;

export const userSchema = z.looseObject({
  login: z.string(),
  email: z.string().optional(),
  zeroDataRetention: z.boolean().optional(),
  zeroDataRetentionEnabledAt: dateTime,
});
export type User = z.infer<typeof userSchema>;

export const providerModelsSchema = z.looseObject({
  provider: z.string(),
  aliases: z.array(z.string()).optional(),
  configured: z.boolean().optional(),
  models: z.array(z.looseObject({ model: z.string(), reasoningEfforts: z.array(z.string()).optional() })).optional(),
});
export type ProviderModels = z.infer<typeof providerModelsSchema>;

/** Records of the specification, parsed strictly, and independent of the contract's schemas. */
import { z } from 'zod';
import { strictEnvironment } from './strict-environment.js';

const dateTime = z.iso.datetime();
const orNull = <T extends z.ZodType>(schema: T) => schema.nullish();
const states = [
  'init',
  'provisioning',
  'provisioned',
  'cloning',
  'ready',
  'idle',
  'running',
  'archiving',
  'archived',
  'error',
  'cancelled',
] as const;

export const strictStop = z.looseObject({
  id: z.string().regex(/^stop_[0-9a-f]+$/),
  status: z.enum(['pending', 'failing', 'completed', 'superseded']),
  requestedAt: dateTime.nullable(),
  lastAttemptAt: dateTime.nullable(),
  error: z.string().nullable(),
  endedAt: dateTime.nullable(),
});

const sandboxId = z.string().regex(/^bx_[23456789abcdefghjkmnpqrstuvwxyz]{8}$/);

/** The single report of a create or fork without a machine (specification, "States and transitions"). */
const cancelledReport = z.strictObject({ id: sandboxId, state: z.literal('cancelled'), error: z.string() });

const liveSandbox = z.looseObject({
  id: sandboxId,
  name: z.string(),
  state: z.enum(states),
  desktopAvailable: z.boolean(),
  snapshotAvailable: z.boolean(),
  error: orNull(z.string()),
  dataExpiredAt: orNull(dateTime),
  health: z.enum(['ok', 'degraded']).optional(),
  healthReason: orNull(z.string()),
  degradedSince: orNull(dateTime),
  hydrated: z.boolean().optional(),
  hydratedAt: orNull(dateTime),
  hydration: orNull(
    z.looseObject({
      phase: z.enum(['dvol', 'sysdelta', 'images', 'hydrating', 'reconciling', 'degraded', 'stuck']),
      entriesDone: z.int().min(0),
      entriesTotal: z.int().min(0).nullable(),
      percent: z.int().min(0).max(99).nullable(),
    }),
  ),
  type: z.enum(['small', 'default', 'large', 'xlarge']).optional(),
  vcpu: z.int().optional(),
  memoryGB: z.int().optional(),
  billingMultiplier: z.number().optional(),
  machineProvider: orNull(z.enum(['hetzner', 'baremetal'])),
  url: orNull(z.url()),
  ip: orNull(z.union([z.ipv4(), z.ipv6()])),
  sshEndpoint: orNull(z.string().regex(/^[^:\s]+:\d+$/)),
  createdAt: orNull(dateTime),
  updatedAt: orNull(dateTime),
  archiveAfter: orNull(dateTime),
  ttlSeconds: orNull(z.int()),
  desktopUrl: orNull(z.url()),
  snapshots: z.boolean().optional(),
  monitoring: z.boolean().optional(),
  snapshotCompletedAt: orNull(dateTime),
  snapshotVerifiedAt: orNull(dateTime),
  lastSnapshotAttemptAt: orNull(dateTime),
  lastSnapshotStatus: orNull(z.enum(['queued', 'in_progress', 'completed', 'failed', 'cancelled'])),
  team: orNull(z.looseObject({ id: z.string(), name: z.string() })),
  createdBy: orNull(z.string()),
  createdById: orNull(z.string()),
  access: z.enum(['owner', 'use', 'view']).optional(),
  holdsCreatorLogins: z.boolean().optional(),
  visibility: orNull(z.enum(['shared', 'private'])),
  wipePendingUntilRestart: z.boolean().optional(),
  cost: z.looseObject({ since: dateTime, seconds: z.int(), dollars: z.number() }).optional(),
  subdomain: orNull(z.string()),
  setupStatus: orNull(z.enum(['pending', 'running', 'done', 'failed'])),
  setupError: orNull(z.string()),
  environment: orNull(z.string()),
  environmentVersion: orNull(z.int()),
  stop: orNull(strictStop),
});

export const strictSandbox = z.union([cancelledReport, liveSandbox]);

/** The records that the specification shows, wherever an answer carries one. */
export const strictRecords = z.looseObject({
  sandbox: strictSandbox.optional(),
  sandboxes: z.array(liveSandbox).optional(),
  stop: strictStop.optional(),
  secret: z.string().min(1).optional(),
  environment: strictEnvironment.optional(),
  environments: z.array(strictEnvironment).optional(),
  webhook: z.looseObject({ id: z.string().regex(/^wh_[0-9a-f]{24}$/), secret: z.undefined().optional() }).optional(),
  webhooks: z
    .array(z.looseObject({ id: z.string().regex(/^wh_[0-9a-f]{24}$/), secret: z.undefined().optional() }))
    .optional(),
});

/** The error envelope (specification, "Errors") of an answer with this status. */
export const strictError = (status: number) =>
  z
    .looseObject({
      ok: z.literal(false),
      type: z.literal('sandbox.error'),
      status: z.literal(status),
      code: z.string().min(1),
      message: z.string().min(1),
      error: z.looseObject({
        code: z.string().min(1),
        message: z.string().min(1),
        status: z.literal(status),
        details: z.looseObject({}).optional(),
      }),
      requestId: z.string().regex(/^req_\w+$/),
    })
    .refine(({ code, error }) => code === error.code, 'code must be the same at both places')
    .refine(({ message, error }) => message === error.message, 'message must be the same at both places');

/** The life of a sandbox: create, read, change, stop, resume, delete. */
import { z } from 'zod';
import { deletionStartedSchema, sandboxSchema, stopOperationSchema, usageSchema } from '../records/sandbox-records.js';
import { shortText } from '../records/short-text.js';
import {
  createSandboxBodySchema,
  forkBodySchema,
  listSandboxesQuerySchema,
  resumeBodySchema,
  updateSandboxBodySchema,
} from '../requests/sandbox-requests.js';
import { deletion, type Endpoint, read, update, write } from './endpoint.js';

const ofSandbox = z.looseObject({ sandbox: sandboxSchema });
const ofSharedSandbox = z.looseObject({ sandbox: sandboxSchema, message: z.string().optional() });

/** Of those that make a sandbox. */
const keyed = { method: 'POST', status: 202, retry: 'keyed', bodyOptional: true, idempotent: true } as const;
/** Of those that begin to move a sandbox to another state. */
const transition = { method: 'POST', status: 202, retry: 'read-first' } as const;

export const sandboxEndpoints = {
  listSandboxes: {
    ...read,
    path: '/sandboxes',
    summary: 'List sandboxes',
    type: 'sandbox.list',
    scope: 'sandbox.read',
    query: listSandboxesQuerySchema,
    response: z.looseObject({ sandboxes: z.array(sandboxSchema), nextCursor: z.string().nullish() }),
    assumed: ['A-paging', 'A-list-order'],
  },
  createSandbox: {
    ...keyed,
    path: '/sandboxes',
    summary: 'Create a sandbox',
    type: 'sandbox.created',
    scope: 'sandbox.create',
    body: createSandboxBodySchema,
    response: ofSandbox,
    assumed: ['A-create-fields'],
  },
  getSandbox: {
    ...read,
    path: '/sandboxes/{sandboxId}',
    summary: 'Get a sandbox',
    type: 'sandbox.info',
    scope: 'sandbox.read',
    response: ofSandbox,
    assumed: ['A-answer-types', 'A-read-lag'],
  },
  updateSandbox: {
    ...update,
    path: '/sandboxes/{sandboxId}',
    summary: 'Rename a sandbox, set its auto-stop or name its snapshot',
    type: 'sandbox.updated',
    scope: 'sandbox.update',
    body: updateSandboxBodySchema,
    response: ofSandbox,
    assumed: ['A-answer-types', 'A-snapshot-name'],
  },
  deleteSandbox: {
    ...deletion,
    path: '/sandboxes/{sandboxId}',
    summary: 'Delete a sandbox permanently',
    type: 'sandbox.deleting',
    scope: 'sandbox.delete',
    response: deletionStartedSchema,
    assumed: ['A-deletion-operation'],
  },
  stopSandbox: {
    ...transition,
    path: '/sandboxes/{sandboxId}/stop',
    summary: 'Stop and archive',
    type: 'sandbox.stopping',
    scope: 'sandbox.stop',
    response: z.looseObject({ id: shortText().nullish(), stop: stopOperationSchema.nullish() }),
    assumed: ['A-stop-answer'],
  },
  getStop: {
    ...read,
    path: '/sandboxes/{sandboxId}/stops/{stopId}',
    summary: 'Get a stop',
    type: 'stop.status',
    scope: 'sandbox.read',
    response: z.looseObject({ id: shortText().nullish(), stop: stopOperationSchema }),
    assumed: ['A-stop-read'],
  },
  resumeSandbox: {
    ...transition,
    path: '/sandboxes/{sandboxId}/resume',
    summary: 'Resume an archived sandbox',
    type: 'sandbox.resuming',
    scope: 'sandbox.resume',
    body: resumeBodySchema,
    bodyOptional: true,
    response: ofSandbox,
    assumed: ['A-resume'],
  },
  forkSandbox: {
    ...keyed,
    path: '/sandboxes/{sandboxId}/fork',
    summary: 'Fork a sandbox into a new one that starts from its state',
    type: 'sandbox.created',
    scope: 'sandbox.fork',
    body: forkBodySchema,
    response: z.looseObject({ sandbox: sandboxSchema, sourceSandboxId: shortText().optional() }),
    assumed: ['A-fork'],
  },
  getSandboxUsage: {
    ...read,
    path: '/sandboxes/{sandboxId}/usage',
    summary: 'Get the machine time of this month',
    type: 'sandbox.usage',
    scope: 'sandbox.read',
    response: z.looseObject({ usage: usageSchema }),
    assumed: ['A-usage'],
  },
  shareSandbox: {
    ...write,
    path: '/sandboxes/{sandboxId}/share',
    summary: 'Share a sandbox with the organization',
    type: 'sandbox.shared',
    scope: 'sandbox.update',
    response: ofSharedSandbox,
    assumed: ['A-sharing'],
  },
  unshareSandbox: {
    ...write,
    path: '/sandboxes/{sandboxId}/unshare',
    summary: 'Make a sandbox of an organization private',
    type: 'sandbox.unshared',
    scope: 'sandbox.update',
    response: ofSharedSandbox,
    assumed: ['A-sharing'],
  },
} as const satisfies Record<string, Endpoint>;

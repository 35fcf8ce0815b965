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
    method: 'POST',
    path: '/sandboxes',
    summary: 'Create a sandbox',
    status: 202,
    type: 'sandbox.created',
    scope: 'sandbox.create',
    retry: 'keyed',
    body: createSandboxBodySchema,
    bodyOptional: true,
    idempotent: true,
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
    method: 'POST',
    path: '/sandboxes/{sandboxId}/stop',
    summary: 'Stop and archive',
    status: 202,
    type: 'sandbox.stopping',
    scope: 'sandbox.stop',
    retry: 'read-first',
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
    method: 'POST',
    path: '/sandboxes/{sandboxId}/resume',
    summary: 'Resume an archived sandbox',
    status: 202,
    type: 'sandbox.resuming',
    scope: 'sandbox.resume',
    retry: 'read-first',
    body: resumeBodySchema,
    bodyOptional: true,
    response: ofSandbox,
    assumed: ['A-resume'],
  },
  forkSandbox: {
    method: 'POST',
    path: '/sandboxes/{sandboxId}/fork',
    summary: 'Fork a sandbox into a new one that starts from its state',
    status: 202,
    type: 'sandbox.created',
    scope: 'sandbox.fork',
    retry: 'keyed',
    body: forkBodySchema,
    bodyOptional: true,
    idempotent: true,
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
} as const satisfies Record<string, Endpoint>;

const ofSharedSandbox = z.looseObject({ sandbox: sandboxSchema, message: z.string().optional() });

export const sharingEndpoints = {
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

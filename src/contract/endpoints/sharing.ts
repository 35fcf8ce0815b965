/** Who in an organization may use a sandbox. */
import { z } from 'zod';
import type { Endpoint } from '../endpoint.js';
import { sandboxSchema } from '../records.js';

const ofSharedSandbox = z.looseObject({ sandbox: sandboxSchema, message: z.string().optional() });

export const sharingEndpoints = {
  shareSandbox: {
    method: 'POST',
    path: '/sandboxes/{sandboxId}/share',
    summary: 'Make an organization sandbox shared',
    status: 200,
    type: 'sandbox.shared',
    scope: 'sandbox.update',
    retry: 'safe',
    response: ofSharedSandbox,
    assumed: ['A-sharing'],
  },
  unshareSandbox: {
    method: 'POST',
    path: '/sandboxes/{sandboxId}/unshare',
    summary: 'Make an organization sandbox private',
    status: 200,
    type: 'sandbox.unshared',
    scope: 'sandbox.update',
    retry: 'safe',
    response: ofSharedSandbox,
    assumed: ['A-sharing'],
  },
} as const satisfies Record<string, Endpoint>;

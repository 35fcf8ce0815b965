/** The machine of a sandbox: processes, artifacts, desktop, SSH. */
import { z } from 'zod';
import { processSchema } from '../records/machine-records.js';
import { shortText } from '../records/short-text.js';
import {
  desktopBodySchema,
  desktopQuerySchema,
  filePathQuerySchema,
  sshKeyBodySchema,
} from '../requests/sandbox-requests.js';
import { download, type Endpoint, read, write } from './endpoint.js';

export const machineEndpoints = {
  listProcesses: {
    ...read,
    path: '/sandboxes/{sandboxId}/processes',
    summary: 'List the current processes, or the last sample of a stopped sandbox',
    type: 'process.list',
    scope: 'sandbox.read',
    response: z.looseObject({
      live: z.boolean(),
      sampledAt: shortText().nullish(),
      total: z.number().optional(),
      processes: z.array(processSchema),
    }),
  },
  downloadArtifact: {
    ...download,
    path: '/sandboxes/{sandboxId}/artifacts',
    summary: 'Download a file, or a folder as tar.gz',
    scope: 'file.read',
    query: filePathQuerySchema,
  },
  openDesktop: {
    ...write,
    path: '/sandboxes/{sandboxId}/desktop',
    summary: 'Get the URL of the desktop stream',
    type: 'desktop.url',
    scope: 'desktop',
    query: desktopQuerySchema,
    body: desktopBodySchema,
    bodyOptional: true,
    response: z.looseObject({ url: z.string() }),
    secret: true,
    assumed: ['A-desktop'],
  },
  setSshKey: {
    ...write,
    path: '/sandboxes/{sandboxId}/sshkey',
    summary: 'Configure an SSH key',
    type: 'sshkey.configured',
    scope: 'ssh',
    body: sshKeyBodySchema,
    response: z.looseObject({ sshEndpoint: z.string().nullish() }),
    assumed: ['A-sshkey'],
  },
} as const satisfies Record<string, Endpoint>;

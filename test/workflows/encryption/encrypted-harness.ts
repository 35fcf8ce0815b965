/** A stand with encrypted payloads and results, and a client without keys that reads them. */
import { randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client } from '@temporalio/client';
import { inject } from 'vitest';
import {
  createEncryptedDataConverter,
  encryptResults,
  type KeyRing,
  newKeyLine,
  parseKeyRing,
} from '../../../src/encryption/index.js';
import type { JobInput } from '../../../workflows/index.js';
import { createStand, jobInput, type StandOptions } from '../workflow-harness.js';

/** The workflows as encrypting workers have them. */
export const encryptedWorkflows = () => ({ codePath: inject('encryptedBundlePath') });

export const ringOf = (...ids: string[]): KeyRing => parseKeyRing(ids.map(newKeyLine).join('\n'));

export async function createEncryptedStand(ring: KeyRing, options: StandOptions = {}) {
  return createStand({
    dataConverter: createEncryptedDataConverter(ring),
    results: (store) => encryptResults(store, ring),
    ...options,
    worker: { workflowBundle: encryptedWorkflows(), ...options.worker },
  });
}

/** A separate namespace: listing another one reads memos of other keys. */
export const deployment = 'encrypted';

export const encryptedJob = (over: Partial<JobInput>) => jobInput({ deployment, ...over });

export const canary = (what: string) => `canary-${what}-${randomBytes(6).toString('hex')}`;

/** Every place that may contain a text: strings unchanged, bytes as text. */
export function everythingIn(value: unknown): string {
  if (typeof value === 'string') return `${value}\n`;
  if (value instanceof Uint8Array) return `${Buffer.from(value).toString('latin1')}\n`;
  if (typeof value !== 'object' || value === null) return '';
  return Object.entries(value)
    .map(([name, part]) => `${name}\n${everythingIn(part)}`)
    .join('');
}

/** Everything that a reader without keys can read of a workflow: every event, and its description. */
export async function heldByServer(client: Client, workflowId: string): Promise<string> {
  const { workflowService } = client;
  const { namespace } = client.options;
  const execution = { workflowId };
  const described = await workflowService.describeWorkflowExecution({ namespace, execution });
  const { firstRunId, runId } = {
    firstRunId: described.workflowExecutionInfo?.firstRunId,
    runId: described.workflowExecutionInfo?.execution?.runId,
  };
  let held = everythingIn(described);
  for (const run of new Set([firstRunId, runId])) {
    let nextPageToken: Uint8Array | null | undefined;
    do {
      const page = await workflowService.getWorkflowExecutionHistory({
        namespace,
        execution: { workflowId, runId: run },
        nextPageToken,
      });
      held += everythingIn(page.history?.events);
      nextPageToken = page.nextPageToken;
    } while (nextPageToken?.length);
  }
  return held;
}

/** Names and contents of all files below a directory. */
export async function filesIn(directory: string): Promise<string> {
  let found = '';
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    found += `${entry.name}\n`;
    if (entry.isFile()) found += (await readFile(join(entry.parentPath, entry.name))).toString('latin1');
  }
  return found;
}

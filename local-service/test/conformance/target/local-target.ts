/** A separate local service for a test, on a free port and a real database. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import {
  createLocalService,
  type FaultInput,
  type LocalService,
  type LocalServiceOptions,
} from '../../../src/index.js';
import { createTarget, type Target } from './target.js';

const apiKey = 'test-key-of-the-local-service';

const fastTimings = {
  bootMs: 4,
  archiveMs: 4,
  hydrationMs: 0,
  stopRetryMs: 20,
  deleteMs: 2,
  webhookRetryMs: 10,
};

/** Waits of tests against a local service: as long as the polls of the project. */
export const localPace = { patienceMs: 120_000, intervalMs: 5 };

export interface LocalTarget extends Target {
  readonly service: LocalService;
  readonly directory: string;
  /** Makes the service fail as configured. */
  arm(fault: FaultInput): Promise<void>;
  /** Ends the service and removes its directory. */
  close(): Promise<void>;
}

/** Starts a service that the caller closes. */
export async function openLocalTarget(options: Partial<LocalServiceOptions> = {}): Promise<LocalTarget> {
  const directory = options.directory ?? (await mkdtemp(join(tmpdir(), 'sandflow-conformance-')));
  const service = await createLocalService({
    apiKey,
    faultsEnabled: true,
    isolation: 'plain',
    ...options,
    directory,
    timings: { ...fastTimings, ...options.timings },
  });
  await service.listen();
  const target = createTarget(() => ({ url: service.url, key: apiKey }), localPace);
  // Not a copy by spread: the getters would be read once.
  return Object.assign(target, {
    service,
    directory,
    async arm(fault: FaultInput) {
      const response = await fetch(`${service.adminUrl}/faults`, {
        method: 'POST',
        body: JSON.stringify(fault),
        headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      });
      if (!response.ok) throw new Error(`The fault was refused: ${await response.text()}`);
    },
    async close() {
      await service.close();
      if (options.directory === undefined) await rm(directory, { recursive: true, force: true });
    },
  });
}

/** Starts a service that ends with the test. For rules that need their own settings: `needs: ['local']`. */
export async function startLocalTarget(options: Partial<LocalServiceOptions> = {}): Promise<LocalTarget> {
  const target = await openLocalTarget(options);
  onTestFinished(() => target.close());
  return target;
}

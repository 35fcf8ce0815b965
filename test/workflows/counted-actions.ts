/** A stand on a Temporal server of its own, which counts what Temporal Cloud bills. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { readConfig } from '../../src/config.js';
import { freePort } from '../../src/os/free-port.js';
import { startEmbeddedServer } from '../../src/temporal-server/embedded.js';
import { findTemporalServer } from '../../src/temporal-server/find.js';
import { createStand, type Stand, type StandOptions } from './workflow-harness.js';

/** How often the server counted each kind of action. */
export type Actions = Readonly<Record<string, number>>;

export interface CountedStand extends Stand {
  /** Does the work, and counts the actions until its end. */
  actionsOf<T>(work: () => Promise<T>): Promise<[Actions, T]>;
}

export async function createCountedStand(options: StandOptions = {}): Promise<CountedStand> {
  const directory = await mkdtemp(join(tmpdir(), 'sandflow-counted-'));
  const port = await freePort();
  const program = await findTemporalServer({ cacheDirectory: readConfig().cacheDirectory });
  const binary = join(directory, 'temporal');
  await writeFile(binary, `#!/bin/sh\nexec '${program}' "$@" --metrics-port ${port}\n`, { mode: 0o700 });
  const server = await startEmbeddedServer({ binary, logFile: join(directory, 'temporal.log') });
  const stand = await createStand({ ...options, temporalAddress: server.address });

  const metrics = async () => (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  const mark = /^service_requests\{.*"GetClusterInfo".*"frontend".*\} (\d+)$/m;
  const marks = async () => Number(mark.exec(await metrics())?.[1] ?? 0);
  const action = /^action\{action_type="(?:grpc_|command_|message_)?(\w+)",namespace="default",.*\} (\d+)$/gm;
  const counted = async (): Promise<Actions> => {
    // The server publishes its counters one after the other, every second. A second mark comes after all of them.
    for (let round = 0; round < 2; round += 1) {
      const before = await marks();
      await stand.client.workflowService.getClusterInfo({});
      await expect.poll(marks).toBeGreaterThan(before);
    }
    return Object.fromEntries(
      [...(await metrics()).matchAll(action)].map(([, kind = '', count]) => [kind, Number(count)]),
    );
  };
  return {
    ...stand,
    async actionsOf(work) {
      const before = await counted();
      const result = await work();
      const done = Object.entries(await counted()).map(([kind, count]) => [kind, count - (before[kind] ?? 0)] as const);
      return [Object.fromEntries(done.filter(([, count]) => count > 0)), result];
    },
    async close() {
      await stand.close();
      await server.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

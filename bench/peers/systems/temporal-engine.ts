/** The Temporal server of the peers that use Temporal: the same for all. */
import { join } from 'node:path';
import type { Client } from '@temporalio/client';
import { connectTemporal } from '../../../src/temporal/connect.js';
import { type EmbeddedServer, startEmbeddedServer } from '../../../src/temporal-server/embedded.js';
import { inParallel } from '../../measure/plain-job.js';
import { median } from '../../measure/quantiles.js';
import type { JobHistory, Place } from '../peer.js';

export interface Engine {
  readonly address: string;
  readonly client: Client;
  pid(): number;
  close(): Promise<void>;
}

const sampleSize = 50;

export async function startEngine({ workshop, directory, inFile }: Place): Promise<Engine> {
  const options = {
    binary: workshop.temporalBinary,
    logFile: join(directory, 'temporal.log'),
    ...(inFile && { databaseFile: join(directory, 'temporal.db') }),
  };
  const server: EmbeddedServer = await startEmbeddedServer(options);
  const client = await connectTemporal({ address: server.address });
  return {
    address: server.address,
    client,
    pid: () => server.pid,
    async close() {
      await client.connection.close();
      await server.stop();
    },
  };
}

export async function historyOf(client: Client, workflowIds: readonly string[]): Promise<JobHistory> {
  const counts = { workflowTasks: [], events: [], timers: [], activities: [] } as Record<keyof JobHistory, number[]>;
  const sample = workflowIds.slice(0, sampleSize);
  await inParallel(sample.length, 5, async (index) => {
    const { events } = await client.workflow.getHandle(sample[index] ?? '').fetchHistory();
    const all = events ?? [];
    counts.events.push(all.length);
    counts.workflowTasks.push(all.filter((event) => event.workflowTaskCompletedEventAttributes).length);
    counts.timers.push(all.filter((event) => event.timerStartedEventAttributes).length);
    counts.activities.push(all.filter((event) => event.activityTaskScheduledEventAttributes).length);
  });
  return {
    workflowTasks: median(counts.workflowTasks),
    events: median(counts.events),
    timers: median(counts.timers),
    activities: median(counts.activities),
  };
}

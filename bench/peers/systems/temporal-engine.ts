/** The Temporal server of the peers that use Temporal: the same for all. */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client, WorkflowHandle } from '@temporalio/client';
import type { DataConverter } from '@temporalio/common';
import { connectTemporal } from '../../../src/temporal/connect.js';
import { isTemporalUnreachable } from '../../../src/temporal/errors.js';
import { startEmbeddedServer } from '../../../src/temporal-server/embedded.js';
import { inParallel } from '../../measure/plain-job.js';
import type { JobEvent, Place } from '../peer.js';

export interface Engine {
  readonly address: string;
  readonly client: Client;
  pid(): number;
  /** Kills the server and starts it again on the same port. Without a file, its state is lost. */
  restart(): Promise<void>;
  /** Waits for the result of a workflow, also while the server restarts. */
  persistently<T>(result: () => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

const sampleSize = 50;
const againMs = 500;
const visibilityLagMs = 2_000;

export async function startEngine(
  { workshop, directory, inFile }: Place,
  { dataConverter }: { readonly dataConverter?: DataConverter | undefined } = {},
): Promise<Engine> {
  const options = {
    binary: workshop.temporalBinary,
    logFile: join(directory, 'temporal.log'),
    ...(inFile && { databaseFile: join(directory, 'temporal.db') }),
  };
  let server = await startEmbeddedServer(options);
  const { address } = server;
  const client = await connectTemporal({ address }, { dataConverter });
  let isClosed = false;
  return {
    address,
    client,
    pid: () => server.pid,
    async restart() {
      process.kill(server.pid, 'SIGKILL');
      await server.exited;
      server = await startEmbeddedServer({ ...options, port: Number(address.split(':')[1]) });
      if (server.address !== address) throw new Error('Another process has taken the port of the Temporal server.');
    },
    async persistently(result) {
      for (;;) {
        try {
          return await result();
        } catch (error) {
          if (isClosed || !isTemporalUnreachable(error)) throw error;
          await sleep(againMs);
        }
      }
    },
    async close() {
      isClosed = true;
      await client.connection.close();
      await server.stop();
    },
  };
}

export async function historiesOf(client: Client, workflowIds: readonly string[]): Promise<readonly JobEvent[][]> {
  const histories: JobEvent[][] = [];
  const sample = workflowIds.slice(0, sampleSize);
  await inParallel(sample.length, 5, async (index) => {
    const { events } = await client.workflow.getHandle(sample[index] ?? '').fetchHistory();
    histories[index] = (events ?? []).map(toJobEvent);
  });
  return histories;
}

type HistoryEvent = NonNullable<Awaited<ReturnType<WorkflowHandle['fetchHistory']>>['events']>[number];

const attributesSuffix = 'EventAttributes';

function toJobEvent(event: HistoryEvent): JobEvent {
  const key = Object.keys(event).find((one) => one.endsWith(attributesSuffix) && event[one as keyof HistoryEvent]);
  const name =
    event.activityTaskScheduledEventAttributes?.activityType?.name ??
    event.workflowExecutionSignaledEventAttributes?.signalName;
  return {
    type: key?.slice(0, -attributesSuffix.length) ?? 'unknown',
    ...(name != null && { name }),
    atMs: Number(event.eventTime?.seconds ?? 0) * 1_000 + (event.eventTime?.nanos ?? 0) / 1e6,
  };
}

export async function eventsSince(client: Client, moment: Date): Promise<number> {
  await sleep(visibilityLagMs);
  let events = 0;
  const query = `StartTime >= "${moment.toISOString()}"`;
  for await (const { historyLength } of client.workflow.list({ query })) events += historyLength ?? 0;
  return events;
}

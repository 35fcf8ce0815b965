/** Measures the stages of a wake, from sending the ready webhook to receiving the prompt. */
import type { WorkflowHandle } from '@temporalio/client';
import { jobWorkflowId, parseOwnedSandboxName } from '../../src/addresses/addresses.js';
import type { BookPages } from './book-reader.js';
import { deployment, inParallel } from './plain-job.js';
import { median } from './quantiles.js';

/** Medians in ms. Each stage begins where the previous one ends. */
export interface WakeStages {
  /**
   * From sending the webhook until the signal is in the workflow's history: the bridge, and one write of the engine.
   */
  readonly toSignalMs: number;
  /** Until a worker has the workflow task. */
  readonly toTaskMs: number;
  /** Until the engine has the commands of the workflow task. */
  readonly toCommandsMs: number;
  /** Until the activity has a worker; about 0 if the activity starts eagerly. */
  readonly toActivityMs: number;
  /** Until the service has the request. Before that, the intent to prompt is written to the engine. */
  readonly toRequestMs: number;
}

type HistoryEvent = NonNullable<Awaited<ReturnType<WorkflowHandle['fetchHistory']>>['events']>[number];

const sampleSize = 50;

export async function wakeStages(
  handles: readonly Pick<WorkflowHandle, 'fetchHistory' | 'workflowId'>[],
  pages: BookPages,
): Promise<WakeStages> {
  const sandboxOf = new Map(pages.sandboxes.map(({ id, name }) => [workflowOf(name), id]));
  const samples: number[][] = [];
  const sample = handles.slice(0, sampleSize);
  await inParallel(sample.length, 5, async (index) => {
    const handle = sample[index];
    const sandboxId = handle && sandboxOf.get(handle.workflowId);
    if (sandboxId === undefined) return;
    const ready = pages.deliveries.find((one) => one.sandboxId === sandboxId && one.type === 'sandbox.ready');
    const prompt = pages.calls.find((one) => one.sandboxId === sandboxId && one.endpoint === 'sendPrompt');
    const events = (await handle?.fetchHistory())?.events ?? [];
    const signalled = events.findIndex((event) => event.workflowExecutionSignaledEventAttributes);
    const after = events.slice(signalled);
    const inTurn = [
      after[0],
      after.find((event) => event.workflowTaskStartedEventAttributes),
      after.find((event) => event.workflowTaskCompletedEventAttributes),
      after.find((event) => event.activityTaskStartedEventAttributes),
    ].map(timeOf);
    const timesMs = [ready?.sentAt ?? Number.NaN, ...inTurn, prompt?.receivedAt ?? Number.NaN];
    const stages = timesMs.slice(1).map((timeMs, at) => timeMs - (timesMs[at] ?? Number.NaN));
    if (signalled >= 0 && stages.every(Number.isFinite)) samples.push(stages);
  });
  const stage = (at: number) => median(samples.map((stages) => stages[at] ?? Number.NaN));
  return {
    toSignalMs: stage(0),
    toTaskMs: stage(1),
    toCommandsMs: stage(2),
    toActivityMs: stage(3),
    toRequestMs: stage(4),
  };
}

function workflowOf(name: string): string {
  return jobWorkflowId(deployment, parseOwnedSandboxName(name)?.jobId ?? '');
}

function timeOf(event: HistoryEvent | undefined): number {
  const { seconds, nanos } = event?.eventTime ?? {};
  return seconds == null ? Number.NaN : Number(seconds) * 1_000 + (nanos ?? 0) / 1e6;
}

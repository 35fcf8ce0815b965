/** Computes when a job was in which phase, and how long its machine ran. */
import { type MachineType, machineSeconds, machineTypes } from '../../contract/workflow-safe/machine-types.js';
import { segmentsOf } from '../batch/page-items.js';
import type { Segment } from '../page-data.js';
import type { JobReportData } from './job-data.js';

export interface JobSpan {
  readonly startMs: number;
  /** The end of the job, or now if it runs. */
  readonly endMs: number;
  readonly segments: readonly Segment[];
}

/**
 * `queued` lasts until the service has answered the create. If the times of a job are not known, the times of its
 * prompts are used.
 */
export function jobSpan({ startedAt, endedAt, generatedAt, times, prompts }: JobReportData): JobSpan {
  const startMs = Date.parse(startedAt);
  const endMs = Math.max(startMs + 1, Date.parse(endedAt ?? generatedAt) || startMs);
  const sent = prompts.flatMap(({ queuedAt, startedAt: begun }) => queuedAt ?? begun ?? []).sort()[0] ?? null;
  const answered = prompts.every((prompt) => prompt.endedAt !== null)
    ? (prompts
        .flatMap((prompt) => prompt.endedAt ?? [])
        .sort()
        .at(-1) ?? null)
    : null;
  const segments = segmentsOf(
    {
      queuedAt: startedAt,
      forkedAt: times === null || times.createdAt === null ? startedAt : times.createdAt,
      usableAt: times?.usableAt ?? null,
      promptedAt: times?.promptedAt ?? sent,
      answeredAt: times ? times.answeredAt : answered,
      endingAt: times?.endingAt ?? null,
      endedAt,
    },
    startMs,
    endMs,
  );
  return { startMs, endMs, segments };
}

export interface JobMachine {
  readonly type: MachineType;
  /** How long it ran for the job, in ms. */
  readonly ms: number;
  /** Machine-seconds, weighted by machine size. */
  readonly seconds: number;
}

/**
 * The machine of a job, from its creation, or from the start of a job that found it. Null if there is none, or if its
 * size is unknown.
 */
export function jobMachine(data: JobReportData, { startMs, endMs }: JobSpan): JobMachine | null {
  const { machineType, sandboxId, times } = data;
  if (sandboxId === null || machineType === null || !Object.hasOwn(machineTypes, machineType)) return null;
  const type = machineType as MachineType;
  const fromMs = Date.parse(times?.createdAt ?? '') || startMs;
  const ms = Math.max(0, (Date.parse(times?.endedAt ?? '') || endMs) - fromMs);
  return { type, ms, seconds: machineSeconds(type, ms) };
}

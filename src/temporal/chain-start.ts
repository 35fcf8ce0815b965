/** When a workflow began that may have continued as new. */
import type { StartMemo } from '../../workflows/shared/start-memo.js';

/** The start of the first run, as its memo says; otherwise that of this run. */
export function chainStart(run: {
  readonly startTime: Date;
  /** Readable values. */
  readonly memo?: Readonly<Record<string, unknown>> | undefined;
}): Date {
  const { startedAt } = (run.memo ?? {}) as StartMemo;
  const first = typeof startedAt === 'string' ? new Date(startedAt) : run.startTime;
  return first < run.startTime ? first : run.startTime;
}

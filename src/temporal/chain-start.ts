/** Finds when a workflow began, even if it has continued as new. */
import type { StartMemo } from '../protocol/memos.js';

/** The start of the first run, from the memo. Without one, the start of this run. */
export function chainStart(run: {
  readonly startTime: Date;
  /** Readable values. */
  readonly memo?: Readonly<Record<string, unknown>> | undefined;
}): Date {
  const { startedAt } = (run.memo ?? {}) as StartMemo;
  const first = typeof startedAt === 'string' ? new Date(startedAt) : run.startTime;
  return first < run.startTime ? first : run.startTime;
}

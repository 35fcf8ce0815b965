/** The state of the stack as the supervisor knows it, and its answers to `sandflow status`, `up` and `down`. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { Config } from '../config.js';
import type { Ask, StackStatus } from './control-protocol.js';
import { activeSchedules, countOpenWork, openDeliveries, openJobs } from './open-work.js';
import { removeStackRecord, type StackRecord, writeStackRecord } from './stack-record.js';
import type { Stack } from './start-stack.js';

/** How long the supervisor waits for Temporal before it answers, in ms. */
const answerWithinMs = 2_000;
/** How often the record of the stack says again what is open, in ms. */
const recordEveryMs = 15_000;

export type StackWatch = ReturnType<typeof createStackWatch>;

interface StackWatchOptions {
  readonly foreground: boolean;
  /** The clients that are connected now. */
  readonly clients: () => StackStatus['clients'];
  readonly recordFile: string;
  /** What the stack before left, if it did not end in order. */
  readonly earlier: StackRecord | undefined;
}

export function createStackWatch(config: Config, { foreground, clients, recordFile, earlier }: StackWatchOptions) {
  const startedAt = new Date().toISOString();
  const end = new AbortController();
  let running: { readonly stack: Stack; readonly temporal: Client } | undefined;
  let kept = earlier?.kept === true;
  let recordedAtMs = 0;
  let recording: Promise<void> = Promise.resolve();
  let isClosed = false;
  let isDown = false;
  let openAtLast: number | null = earlier?.openJobs ?? 0;
  let endsAt: string | null = null;

  const open = async () => {
    const jobs = { openJobs: 0, openIds: [] };
    const schedules = { activeSchedules: 0, scheduleNames: [] };
    const deliveries = { undeliveredCount: 0, undelivered: [] };
    if (!running) return { ...jobs, ...schedules, ...deliveries };
    const { temporal } = running;
    const inTime = <T>(ask: () => Promise<T>) => temporal.withDeadline(Date.now() + answerWithinMs, ask);
    const [ofJobs, ofSchedules, ofDeliveries] = await Promise.all([
      inTime(() => openJobs(temporal, config)).catch(() => ({ ...jobs, openJobs: null })),
      inTime(() => activeSchedules(temporal, config)).catch(() => ({ ...schedules, activeSchedules: null })),
      inTime(() => openDeliveries(temporal, config)).catch(() => ({ ...deliveries, undeliveredCount: null })),
    ]);
    return { ...ofJobs, ...ofSchedules, ...ofDeliveries };
  };

  const status = async (): Promise<StackStatus> => {
    const pids = Object.entries(running?.stack.pids() ?? {});
    return {
      state: end.signal.aborted ? 'ending' : running ? 'ready' : 'starting',
      pid: process.pid,
      startedAt,
      foreground,
      kept,
      endsAt: kept || foreground ? null : endsAt,
      stack: running?.stack.description ?? null,
      parts: Object.fromEntries(pids.map(([name, pid]) => [name, pid ?? null])),
      clients: clients(),
      ...(await open()),
    };
  };

  const write = async (): Promise<void> => {
    recordedAtMs = Date.now();
    // A stack that is only starting has not looked: what the one before left is still true.
    const { openJobs: jobs, activeSchedules: schedules } = running || !earlier ? await open() : earlier;
    if (isClosed) return;
    openAtLast = jobs;
    const seenAt = new Date().toISOString();
    const assumed = config.assumed?.file;
    await writeStackRecord(recordFile, { kept, assumed, seenAt, openJobs: jobs, activeSchedules: schedules });
  };

  /** Never rejects: without a disk, nothing is remembered, and the stack runs on. */
  const record = (): Promise<void> => {
    recording = write().catch(() => undefined);
    return recording;
  };
  const close = async (): Promise<void> => {
    // A shutdown of the machine leaves jobs that wait.
    const isOver = isDown || (!kept && openAtLast === 0);
    isClosed = isOver;
    await recording;
    if (isOver) await removeStackRecord(recordFile);
  };

  return {
    /** Aborted once a command has ended the stack. */
    ended: end.signal as AbortSignal,
    async answer(ask: Ask): Promise<StackStatus> {
      // A foreground stack ends with its command, whoever asks.
      if (ask === 'keep' && !foreground) {
        kept = true;
        await record();
      }
      const told = await status();
      const isIdle = told.openJobs === 0 && told.clients.length === 0;
      if (ask !== 'force_end' && !(isIdle && (ask === 'end' || ask === 'end_start'))) return told;
      isDown = ask !== 'end_start';
      end.abort();
      await close();
      return { ...told, state: 'ending' };
    },
    /** The stack is ready; `temporal` answers until the stack ends. */
    ready(stack: Stack, temporal: Client): void {
      running = { stack, temporal };
    },
    /** Resolves when the stack has been idle for long enough and nobody has asked to keep it, or at the abort. */
    async untilIdle(signal: AbortSignal): Promise<void> {
      if (!running) return;
      const { temporal } = running;
      const { idleMs } = config;
      const isIdle = await untilIdle({
        clients: () => clients().length,
        openJobs: () => temporal.withDeadline(Date.now() + 5_000, () => countOpenWork(temporal, config)),
        idleMs,
        isKept: () => kept || foreground,
        onCheck(quietSinceMs) {
          if (Date.now() - recordedAtMs >= recordEveryMs) void record();
          endsAt = quietSinceMs === undefined ? null : new Date(quietSinceMs + idleMs).toISOString();
        },
        signal,
      });
      if (isIdle) openAtLast = 0;
    },
    /** Removes the record of a stack that ends in order. If it is kept, or jobs are open, only `down` is such an end. */
    close,
  };
}

const maxCheckIntervalMs = 2_000;

interface UntilIdleOptions {
  /** Number of clients that are connected now. */
  readonly clients: () => number;
  /** Requests the number of open jobs from Temporal. If this fails, the stack counts as busy: jobs may be open. */
  readonly openJobs: () => Promise<number>;
  /** How long there must have been no clients and no open jobs, in ms. */
  readonly idleMs: number;
  /** True if the stack stays up while it is idle. Default: false. */
  readonly isKept?: () => boolean;
  /**
   * Called at each check with the time since which the stack is idle, in ms since the epoch; undefined while it is not
   * idle.
   */
  readonly onCheck?: (quietSinceMs: number | undefined) => void;
  /** Ends the wait. */
  readonly signal: AbortSignal;
}

/** Resolves true when no client and no open job have been seen for `idleMs`, false when the signal ends the wait. */
export async function untilIdle(options: UntilIdleOptions): Promise<boolean> {
  const { clients, openJobs, idleMs, isKept = () => false, onCheck, signal } = options;
  const checkIntervalMs = Math.min(maxCheckIntervalMs, Math.max(idleMs / 4, 20));
  let quietSince: number | undefined;
  while (!signal.aborted) {
    const isQuiet = async () =>
      !isKept() && clients() === 0 && (await openJobs().catch(() => 1)) === 0 && clients() === 0 && !isKept();
    if (!(await isQuiet())) quietSince = undefined;
    else if (quietSince === undefined) quietSince = Date.now();
    else if (Date.now() - quietSince >= idleMs) return true;
    onCheck?.(quietSince);
    await sleep(checkIntervalMs, undefined, { signal }).catch(() => undefined);
  }
  return false;
}

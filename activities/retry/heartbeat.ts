/**
 * Beats with what an attempt is about to do, straight to Temporal: a beat of the SDK is throttled and returns before it is
 * delivered, so it could come late and say something older.
 */
import { activityInfo, Context, heartbeat } from '@temporalio/activity';
import { ActivityCancelledError } from '@temporalio/client';

export interface IntentBeats<Intent> {
  /**
   * Resolves when Temporal has it. From then on it is repeated every 3 s.
   * @throws the client's error where Temporal has given this attempt up, or wants it cancelled
   */
  record(intent: Intent): Promise<void>;
  /** True once a cancel was seen. */
  readonly isCancelled: () => boolean;
  /** Resolves when no beat is on its way any more. */
  stop(): Promise<void>;
  /** Adds to what the next attempt finds; sent with the failure of this one. After `stop`. */
  leave(more: Partial<Intent>): void;
}

const everyMs = 3_000;

/** @param first what an earlier attempt left, which must not be lost while this one prepares */
export function createIntentBeats<Intent>(first: Intent | undefined): IntentBeats<Intent> {
  const context = Context.current();
  const { taskToken } = activityInfo();
  let current = first;
  let isRecorded = false;
  let isCancelled = false;
  let onItsWay = Promise.resolve();

  const beat = async () => {
    try {
      await context.client.activity.heartbeat(taskToken, current);
    } catch (error) {
      if (error instanceof ActivityCancelledError) isCancelled = true;
      throw error;
    }
  };
  const timer = setInterval(() => {
    // The SDK has a clock of its own for attempts that do not beat. What it sends must not be older than what was recorded.
    if (isRecorded) heartbeat(current);
    onItsWay = onItsWay.then(beat).catch(() => undefined);
  }, everyMs);

  return {
    async record(intent) {
      await onItsWay;
      current = intent;
      await beat();
      isRecorded = true;
    },
    isCancelled: () => isCancelled || context.cancellationSignal.aborted,
    async stop() {
      clearInterval(timer);
      await onItsWay;
    },
    leave(more) {
      heartbeat({ ...current, ...more });
    },
  };
}

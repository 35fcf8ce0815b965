/**
 * Records the intent of an attempt in heartbeats sent directly to Temporal. The SDK throttles its heartbeats and
 * returns before delivery, so they could arrive late and overwrite a newer intent.
 */
import { activityInfo, Context, heartbeat } from '@temporalio/activity';
import { ActivityCancelledError } from '@temporalio/client';

export type IntentBeats<Intent> = ReturnType<typeof createIntentBeats<Intent>>;

const everyMs = 3_000;

/** @param first the details of an earlier attempt; they are sent until this attempt records its own */
export function createIntentBeats<Intent>(first: Intent | undefined) {
  const context = Context.current();
  const { taskToken } = activityInfo();
  let current = first;
  let isRecorded = false;
  let isCancelled = false;
  let acceptedAtMs = -Infinity;
  let onItsWay = Promise.resolve();

  const beat = async () => {
    const sentAtMs = Date.now();
    try {
      await context.client.activity.heartbeat(taskToken, current);
      acceptedAtMs = sentAtMs;
    } catch (error) {
      if (error instanceof ActivityCancelledError) isCancelled = true;
      throw error;
    }
  };
  const timer = setInterval(() => {
    // The SDK sends its own heartbeats for silent attempts. Those must not carry older details than the recorded ones.
    if (isRecorded) heartbeat(current);
    onItsWay = onItsWay.then(beat).catch(() => undefined);
  }, everyMs);

  return {
    /**
     * Records the details. Resolves once Temporal has them; from then on they are repeated every 3 s.
     * @throws the client's error if this attempt has timed out or is to be cancelled
     */
    async record(intent: Intent) {
      await onItsWay;
      current = intent;
      await beat();
      isRecorded = true;
    },
    /** Time in ms since the newest heartbeat that Temporal accepted was sent. Infinity before the first one. */
    silentMs: () => Date.now() - acceptedAtMs,
    /** True once a cancel was requested. */
    isCancelled: () => isCancelled || context.cancellationDetails?.cancelRequested === true,
    /** Stops the heartbeats. Resolves when the last one has been sent. */
    async stop() {
      clearInterval(timer);
      await onItsWay;
    },
    /**
     * Adds to the details that the next attempt finds; they are sent with the failure of this attempt. Call it after
     * `stop`.
     */
    leave(more: Partial<Intent>) {
      heartbeat({ ...current, ...more });
    },
  };
}

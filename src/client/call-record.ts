/** Reports each call once, when it has ended. */
import { SandflowError } from '../errors/sandflow-error.js';
import type { CallName, CallRecord } from './call-options.js';

export interface RunningRecord {
  /** Records that the call has ended; `failure` is undefined after success. Only the first call has an effect. */
  end(status: number | null, failure?: unknown): void;
}

export function startRecord(
  endpoint: CallName,
  options: { readonly signal?: AbortSignal; readonly onCall: ((record: CallRecord) => void) | undefined },
): RunningRecord {
  const startedAt = Date.now();
  const start = performance.now();
  let ended = false;
  return {
    end(status, failure) {
      if (ended) return;
      ended = true;
      try {
        options.onCall?.({
          endpoint,
          startedAt,
          durationMs: performance.now() - start,
          status,
          errorCode: failure === undefined ? null : codeOf(failure, options.signal),
          requestId: requestIdOf(failure),
        });
      } catch (error) {
        // An error in a metrics callback must not lose the response of a call that took effect.
        const message = error instanceof Error ? error.message : 'no error';
        process.emitWarning(`onCall of the sandbox client threw: ${message}`);
      }
    },
  };
}

function codeOf(failure: unknown, signal: AbortSignal | undefined): string {
  if (failure instanceof SandflowError) return failure.code;
  return signal?.aborted ? 'aborted' : 'unknown';
}

function requestIdOf(failure: unknown): string | null {
  return failure instanceof Error && 'requestId' in failure && typeof failure.requestId === 'string'
    ? failure.requestId
    : null;
}

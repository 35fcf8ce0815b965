import { ApplicationFailure } from '@temporalio/common';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import { callsOfActivity } from '../../activities/retry/attempt.js';
import { detailsWithCalls, withCalls } from '../protocol/counted-result.js';

/**
 * Reports how many calls to the service each activity has made, so that the results of workflows have `apiCalls`. Only
 * workflows of a bundle with `unencryptedBundle` or `encryptedBundle` can read the results of such a worker.
 * `createSandflowWorker` has it: pass it only to a `Worker` of your own, as one of `interceptors.activity`.
 */
export const countCalls: ActivityInterceptorsFactory = () => ({
  inbound: {
    async execute(input, next) {
      try {
        return withCalls(await next(input), callsOfActivity());
      } catch (error) {
        if (!(error instanceof ApplicationFailure)) throw error;
        throw Object.assign(error, { details: detailsWithCalls(error.details ?? [], callsOfActivity()) });
      }
    },
  },
});

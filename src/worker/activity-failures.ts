/** What the failure of an activity may tell Temporal, which keeps it in the history. */
import type { ActivityInboundCallsInterceptor } from '@temporalio/worker';
import { finalFailure } from '../../activities/retry/classify.js';
import { unanswered } from '../contract/workflow-safe/service-failure.js';
import { SandflowError } from '../errors/sandflow-error.js';
import { cleanError } from '../errors/without-secrets.js';
import { missingApiOf } from '../temporal/missing-api.js';

export const activityFailures: ActivityInboundCallsInterceptor = {
  async execute(input, next) {
    try {
      return await next(input);
    } catch (error) {
      // A library may have written anything into it.
      cleanError(error);
      const final = isOfOtherVersion(error) ? error : missingApiOf(error);
      if (!final) throw error;
      const { code, message } = final;
      throw finalFailure({ ...unanswered, code, message, meaning: 'permanent' });
    }
  },
};

/** No later attempt of this version can read the object. */
function isOfOtherVersion(error: unknown): error is SandflowError {
  return error instanceof SandflowError && error.code === 'result_of_other_version';
}

/**
 * Refuses unencrypted input on a worker that requires encryption. Only the bundle of such workers includes it. It
 * creates no promises, so histories from the other bundle replay with this bundle. What was tried:
 * test/workflows/encryption/require-encrypted.test.ts.
 */
import { ApplicationFailure } from '@temporalio/common';
import { log, type WorkflowInterceptors } from '@temporalio/workflow';
import { isRefusedInput, refusedSignalText } from '../../src/protocol/refused-input.js';

export const interceptors = (): WorkflowInterceptors => ({
  inbound: [
    {
      execute(input, next) {
        return refusal(input.args, 'The input of this workflow') ?? next(input);
      },
      handleSignal(input, next) {
        if (!input.args.some(isRefusedInput)) return next(input);
        // A dropped signal does no harm: signals are only hints, or are sent again.
        log.warn(refusedSignalText, { signal: input.signalName });
        return Promise.resolve();
      },
      validateUpdate(input, next) {
        if (input.args.some(isRefusedInput)) throw notEncrypted(`The update "${input.name}"`);
        next(input);
      },
      handleUpdate(input, next) {
        return refusal(input.args, `The update "${input.name}"`) ?? next(input);
      },
      handleQuery(input, next) {
        return refusal(input.args, `The query "${input.queryName}"`) ?? next(input);
      },
    },
  ],
});

/** Rejects a promise: a synchronous throw would fail the workflow task, which Temporal retries forever. */
function refusal(args: readonly unknown[], what: string): Promise<never> | undefined {
  return args.some(isRefusedInput) ? Promise.reject(notEncrypted(what)) : undefined;
}

function notEncrypted(what: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(`${what} is not encrypted, which this deployment requires.`, 'not_encrypted');
}

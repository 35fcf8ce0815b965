/**
 * Refuses input that came in clear to a worker that wants it encrypted. In the bundle of workers that encrypt. Nothing here
 * makes a promise of its own, so that what ran with the other bundle replays with this one.
 */
import { ApplicationFailure } from '@temporalio/common';
import { log, type WorkflowInterceptors } from '@temporalio/workflow';
import { isRefusedInput } from '../../src/contract/refused-input.js';

export const interceptors = (): WorkflowInterceptors => ({
  inbound: [
    {
      execute(input, next) {
        return refusal(input.args, 'The input of this workflow') ?? next(input);
      },
      handleSignal(input, next) {
        if (!input.args.some(isRefusedInput)) return next(input);
        // Signals are hints, or are asked for again: one that is dropped costs a look at the service.
        log.warn('A signal was dropped, since it was not encrypted.', { signal: input.signalName });
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

/** A rejection: what is thrown at once is an error of the workflow's task, which is tried for ever. */
function refusal(args: readonly unknown[], what: string): Promise<never> | undefined {
  return args.some(isRefusedInput) ? Promise.reject(notEncrypted(what)) : undefined;
}

function notEncrypted(what: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(`${what} is not encrypted, which this deployment requires.`, 'not_encrypted');
}

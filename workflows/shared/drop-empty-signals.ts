/**
 * Drops signals of sandflow that lack their argument, as `temporal workflow signal` sends them without `--input`. Their
 * handlers would throw, and the workflow task would then fail again and again: a job hung after such a signal, and could
 * not even be cancelled.
 */
import { log, type WorkflowInterceptors } from '@temporalio/workflow';
import * as messages from '../../src/protocol/messages.js';

const withArgument: readonly string[] = [
  messages.sandboxEventSignal,
  messages.watchRegisterSignal,
  messages.watchUnregisterSignal,
  messages.releaseClaimSignal,
  messages.fanoutThrottledSignal,
  messages.fanoutBlockedSignal,
  messages.chunkGrantSignal,
  messages.chunkReportSignal,
  messages.followSignal,
  messages.leftRunningSignal,
].map(({ name }) => name);

export const interceptors = (): WorkflowInterceptors => ({
  inbound: [
    {
      handleSignal(input, next) {
        const [argument] = input.args;
        const isObject = typeof argument === 'object' && argument !== null;
        if (isObject || !withArgument.includes(input.signalName)) return next(input);
        log.warn(`The signal ${input.signalName} has no argument, and is dropped.`);
        return Promise.resolve();
      },
    },
  ],
});

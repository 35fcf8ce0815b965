/** `sandflow stop` for one sandbox: requests the stop and, with `--wait`, waits for its end. */

import { SandflowError } from '../../errors/sandflow-error.js';
import { anySignal } from '../../os/any-signal.js';
import type { StopRequest, StopRequestView } from '../../protocol/stop.js';
import { awaitStop } from '../../workflow-client/stops/read-stops.js';
import { requestStop } from '../../workflow-client/stops/stop-client.js';
import type { ConcurrencyLimit } from '../connect/concurrency-limit.js';
import { failureOf, plainError } from '../errors.js';
import type { Reporter } from '../output/reporter.js';
import { oneLine } from '../output/terminal-safe.js';
import { asCalled } from '../program-name.js';
import type { ReconnectingClient } from './reconnecting-client.js';
import { newsText, type StopEnd } from './stop-text.js';

export interface WatchStopOptions {
  readonly request: StopRequest;
  readonly taskQueue: string;
  readonly deployment: string;
  readonly wait: boolean;
  /** Throws if there is no such sandbox. Default: no check. */
  readonly requireVisible?: ((sandboxId: string) => Promise<void>) | undefined;
  /** Limits the requests that are sent at once. */
  readonly gate: ConcurrencyLimit;
  readonly link: ReconnectingClient;
  readonly reporter: Reporter;
  readonly interrupted: AbortSignal;
  readonly lookEveryMs: readonly [first: number, atMost: number];
}

/** Never throws: a failure of one sandbox must not affect the others. */
export async function watchStopToEnd(sandboxId: string, options: WatchStopOptions): Promise<StopEnd> {
  const { request, taskQueue, deployment, wait, gate, link, reporter, lookEveryMs } = options;
  // Each wait adds listeners, so each sandbox has its own signal.
  const signal = anySignal([options.interrupted]);
  let seen: StopRequestView | undefined;
  let isRequested = false;
  const onChange = (view: StopRequestView) => {
    if (!seen && view.stopId !== null) reporter.notice(`${sandboxId}: stop ${view.stopId} accepted`, 'detail');
    const news = newsText(view, seen);
    if (news) reporter.notice(`${sandboxId}: ${oneLine(news)}`);
    seen = view;
  };
  try {
    const requested = await gate(async () => {
      signal.throwIfAborted();
      await options.requireVisible?.(sandboxId);
      return link.call((temporal) => {
        isRequested = true;
        return requestStop(temporal, { sandboxId, ...request }, { taskQueue, deployment });
      });
    });
    if (!wait) return { kind: 'seen', view: requested.accepted };
    onChange(requested.accepted);
    for (let warned = false; ; ) {
      try {
        const wait = () => link.call((temporal) => awaitStop(temporal, requested, { onChange, signal, lookEveryMs }));
        return { kind: 'seen', view: await wait() };
      } catch (error) {
        if (signal.aborted || !(error instanceof SandflowError) || error.code !== 'no_worker') throw error;
        if (!warned) reporter.notice(asCalled(error.message));
        warned = true;
      }
    }
  } catch (error) {
    if (!signal.aborted) return { kind: 'failed', ...failureOf(error) };
    return { kind: 'left', error: isRequested ? null : plainError('interrupted', 'The stop was not requested.') };
  }
}

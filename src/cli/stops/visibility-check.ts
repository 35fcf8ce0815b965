/**
 * Asks the service whether a sandbox exists before its stop is requested. The workflow of a stop cannot tell a wrong id
 * from a sandbox that is too new to be shown, so it asks for a minute and a half before it believes a 404. A mistyped
 * id was answered only then.
 */
import { SandflowError } from '../../errors/sandflow-error.js';
import { findStopRequest } from '../../workflow-client/stops/read-stops.js';
import { type CheckSourceOptions, checkSource } from '../connect/check-source.js';
import type { Notices } from '../output/reporter.js';
import type { ReconnectingClient } from './reconnecting-client.js';

export interface VisibilityCheckOptions {
  readonly service: CheckSourceOptions['service'];
  readonly link: ReconnectingClient;
  readonly reporter: Notices;
  readonly interrupted: AbortSignal;
  /** The id that the user gave the request; undefined for a new request. */
  readonly requestId: string | undefined;
  /** False: says that the sandbox is not shown, and lets the stop be requested. */
  readonly refuses: boolean;
  /** Pauses between reads of what is not found, in ms. Default: those of `checkSource`. */
  readonly pausesMs?: readonly number[];
}

/** @returns a check that throws a SandflowError `sandbox_not_found` */
export function createVisibilityCheck({
  service,
  link,
  reporter,
  interrupted,
  requestId,
  refuses,
  pausesMs,
}: VisibilityCheckOptions): (sandboxId: string) => Promise<void> {
  return async (sandboxId) => {
    // A repeated request resumes its wait, whatever became of the sandbox.
    const isRepeated =
      requestId !== undefined && (await link.call((temporal) => findStopRequest(temporal, sandboxId, requestId)));
    if (isRepeated) return;
    const asking = { service, signal: interrupted, notices: reporter, pausesMs: refuses ? pausesMs : [] };
    try {
      await checkSource({ kind: 'sandbox', sandboxId, use: 'stop' }, asking);
    } catch (error) {
      if (refuses || !(error instanceof SandflowError)) throw error;
      reporter.notice(
        `${sandboxId}: the service does not show this sandbox. It may be new: its stop waits up to 90 s for it.`,
      );
    }
  };
}

/** Retry class `read-first`: stop and resume. */
import { ApiError, type SandboxClient } from '../src/client/index.js';
import type { ResumeBody } from '../src/contract/requests.js';
import type { SandboxView, StopView } from '../src/contract/sandbox-view.js';
import type { Counted } from '../src/contract/service-failure.js';
import { counted } from './calls.js';
import { sandboxView, stopView } from './sandbox-view.js';

export interface StopSandboxInput {
  readonly sandboxId: string;
  /** The last stop that was known before this one was asked for; null when there was none. */
  readonly previousStopId: string | null;
}

/** `gone`: there is no such sandbox any more. */
export type StopAnswer = { readonly stop: StopView } | 'gone';

/**
 * Stops a sandbox. A repeated attempt reads first and adopts what is there: a blind repeat would stop what a person
 * has just resumed (specification, stop; trap S7).
 */
export function stopSandboxActivity(client: SandboxClient) {
  return async function stopSandbox(input: StopSandboxInput): Promise<Counted<StopAnswer>> {
    const { sandboxId, previousStopId } = input;
    return counted(async (attempt) => {
      try {
        if (attempt.attempt > 1) {
          const { sandbox } = await attempt.call((signal) => client.getSandbox(sandboxId, { signal }));
          if (sandbox.stop && sandbox.stop.id !== previousStopId) return { stop: stopView(sandbox.stop) };
        }
        const answer = await attempt.call((signal) => client.stopSandbox(sandboxId, { signal }));
        if (answer.stop) return { stop: stopView(answer.stop) };
        if (answer.id) return { stop: { id: answer.id, status: 'pending', requestedAt: null, error: null } };
        const { sandbox } = await attempt.call((signal) => client.getSandbox(sandboxId, { signal }));
        return sandbox.stop ? { stop: stopView(sandbox.stop) } : 'gone';
      } catch (error) {
        if (error instanceof ApiError && error.status === 404 && error.typed) return 'gone';
        throw error;
      }
    });
  };
}

export interface ResumeSandboxInput {
  readonly sandboxId: string;
  readonly body: ResumeBody;
  /** The last stop that was known before the resume; a newer one was asked for by somebody else meanwhile. */
  readonly previousStopId: string | null;
}

/**
 * Resumes a sandbox. A repeated attempt reads first: a blind repeat would supersede a newer stop.
 * @returns the sandbox as it is after the resume, or as it was found
 */
export function resumeSandboxActivity(client: SandboxClient) {
  return async function resumeSandbox(input: ResumeSandboxInput): Promise<Counted<SandboxView>> {
    const { sandboxId, body, previousStopId } = input;
    return counted(async (attempt) => {
      if (attempt.attempt > 1) {
        const { sandbox } = await attempt.call((signal) => client.getSandbox(sandboxId, { signal }));
        const stoppedAgain = sandbox.stop != null && sandbox.stop.id !== previousStopId;
        if (stoppedAgain || sandbox.state !== 'archived') return sandboxView(sandbox);
      }
      const { sandbox } = await attempt.call((signal) => client.resumeSandbox(sandboxId, body, { signal }));
      return sandboxView(sandbox);
    });
  };
}

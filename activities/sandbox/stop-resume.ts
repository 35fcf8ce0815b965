/** Retry class `read-first`: stop and resume. Each attempt reads, also the first, and does only what is still meant. */
import { ApiError, type SandboxClient, UnexpectedResponseError } from '../../src/client/index.js';
import type { Sandbox } from '../../src/contract/records.js';
import type { ResumeBody } from '../../src/contract/requests.js';
import type { SandboxView, StopView } from '../../src/contract/sandbox-view.js';
import type { Counted } from '../../src/contract/service-failure.js';
import { type ReadFirst, type ReadFirstOptions, readFirst } from '../retry/read-first.js';
import { type BeforeRequest, decideResume, decideStop, type StopDecision } from './stop-decision.js';
import { sandboxView, stopView } from './view.js';

export type StopSandboxInput = ReadFirstOptions;

/** `gone`: there is no such sandbox, and that has lasted. */
export type StopAnswer =
  | {
      /** `asked`: the call was made and answered. Else as `StopDecision` says. */
      readonly how: 'asked' | Exclude<StopDecision, 'ask' | 'gone'>;
      /** Null only of an archived sandbox that shows none. */
      readonly stop: StopView | null;
      /** As it was read last. */
      readonly sandbox: SandboxView;
      /** What another activity of the same wish must be given, should this stop prove to be nobody's. */
      readonly before: BeforeRequest | null;
    }
  | 'gone';

/**
 * Stops a sandbox. A stop that is under way is joined; one of somebody else's that has ended is not taken for ours. A
 * request that may have been accepted is repeated only while nothing has changed since: a blind repeat would stop what
 * a person has just resumed (specification, stop; trap S7).
 */
export function stopSandboxActivity(client: SandboxClient) {
  return async function stopSandbox(input: StopSandboxInput): Promise<Counted<StopAnswer>> {
    const { sandboxId } = input;
    return readFirst(client, input, async (tools) => {
      try {
        return await stopOnce(client, sandboxId, tools);
      } catch (error) {
        if (tools.isBelieved(error)) return 'gone';
        throw error;
      }
    });
  };
}

async function stopOnce(client: SandboxClient, sandboxId: string, tools: ReadFirst): Promise<StopAnswer> {
  const sandbox = await tools.look();
  const found = answerOf(sandbox, tools.before());
  if (found) return found;
  const before = tools.before() ?? { previousStopId: sandbox.stop?.id ?? null };
  try {
    const { id, stop: told } = await tools.send(before, () => client.stopSandbox(sandboxId));
    const stop = told ? stopView(told) : id === undefined ? null : pendingStop(id);
    // One that has ended already may come from a cache: the sandbox says what is true.
    const isNew = stop?.status === 'pending' || stop?.status === 'failing';
    if (isNew) return { how: 'asked', stop, sandbox: sandboxView(sandbox), before };
  } catch (error) {
    if (!isFinal(error)) throw error;
    // It may have become pointless since it was read.
    const settled = answerOf(await tools.look(), tools.before());
    if (settled) return settled;
    throw error;
  }
  const settled = answerOf(await tools.look(), before);
  if (settled) return settled;
  throw new UnexpectedResponseError('stopSandbox', 202, 'stop', 'is none that the sandbox has');
}

function answerOf(sandbox: Sandbox, before: BeforeRequest | null): StopAnswer | undefined {
  const how = decideStop(sandbox, before);
  if (how === 'ask') return undefined;
  if (how === 'gone') return how;
  return { how, stop: sandbox.stop ? stopView(sandbox.stop) : null, sandbox: sandboxView(sandbox), before };
}

function pendingStop(id: string): StopView {
  return { id, status: 'pending', requestedAt: null, error: null };
}

/** A refusal that waiting does not mend, or that says that the sandbox is in another state than it was read in. */
function isFinal(error: unknown): boolean {
  const isRefusal = error instanceof ApiError && error.typed && error.status !== 404;
  return isRefusal && (error.meaning === 'permanent' || error.meaning === 'wait_out');
}

export interface ResumeSandboxInput {
  readonly sandboxId: string;
  readonly body: ResumeBody;
  /** The last stop that was known before the resume; a newer one was asked for by somebody else meanwhile. */
  readonly previousStopId: string | null;
  /** How long a 404 must last to be believed, in ms. Default 90 s. */
  readonly readLagMs?: number;
}

export type ResumedSandbox = SandboxView & {
  /**
   * `resumed`: the service has accepted it; reads may show the archived sandbox with its old stop for a while. `found`:
   * it was not archived. `stopped_again`: somebody has asked for another stop, which was left alone.
   */
  readonly how: 'resumed' | 'found' | 'stopped_again';
};

/**
 * Resumes a sandbox while it is archived and has no stop that the caller does not know: a blind repeat would supersede
 * somebody's newer stop.
 * @returns the sandbox as it is after the resume, or as it was found
 */
export function resumeSandboxActivity(client: SandboxClient) {
  return async function resumeSandbox(input: ResumeSandboxInput): Promise<Counted<ResumedSandbox>> {
    const { sandboxId, body, previousStopId, readLagMs } = input;
    const before = { previousStopId };
    return readFirst(client, { sandboxId, before, readLagMs }, async (tools) => {
      const found = await tools.look();
      const decision = decideResume(found, before);
      if (decision !== 'ask') return { ...sandboxView(found), how: decision };
      const { sandbox } = await tools.send(before, () => client.resumeSandbox(sandboxId, body));
      return { ...sandboxView(sandbox), how: 'resumed' };
    });
  };
}

/**
 * Retry class `read-first`: stop and resume. Every attempt reads first, and sends only what the state still requires.
 */
import { activityInfo } from '@temporalio/activity';
import { ApiError, type SandboxClient, UnexpectedResponseError } from '../../src/client/index.js';
import type { ResumeBody } from '../../src/contract/requests/sandbox-requests.js';
import type { SandboxView, StopView } from '../../src/contract/workflow-safe/sandbox-view.js';
import { isOpenStop } from '../../src/contract/workflow-safe/states.js';
import type { ResultStore } from '../../src/result-store/index.js';
import type { SeenSandbox } from '../prompt/end.js';
import { storeTranscript, type TranscriptRequest } from '../prompt/transcript.js';
import { type BeforeRequest, type ReadFirst, type ReadFirstOptions, readFirst } from '../retry/read-first.js';
import { sandboxView } from '../sandbox-view.js';
import { type ResultToStore, storeBeforeEnd } from '../store/before-end.js';
import { stopOfAnswer } from './accepted-operation.js';
import { decideResume, decideStop, type StopDecision } from './decide-stop-call.js';

export interface StopSandboxInput extends ReadFirstOptions {
  /** Does not stop a sandbox whose agent works. Default: false. */
  readonly unlessWorking?: boolean | undefined;
  /** A read of the sandbox that was made just now, so that the first attempt need not read. Default: none. */
  readonly seen?: SeenSandbox | undefined;
  /** The history to store before the stop. Default: none. */
  readonly transcript?: TranscriptRequest | undefined;
  /** The result to store before the stop. Default: none. */
  readonly result?: ResultToStore | undefined;
}

/** `gone`: the sandbox has been missing for longer than a read may lag. */
export type StopAnswer =
  | {
      /**
       * `asked`: the call was made and answered. `in_use`: the agent works, and nothing was asked. Otherwise see
       * `StopDecision`.
       */
      readonly how: 'asked' | 'in_use' | Exclude<StopDecision, 'ask' | 'gone'>;
      /** Null only if an archived sandbox shows no stop. */
      readonly stop: StopView | null;
      /** The latest read of the sandbox. */
      readonly sandbox: SandboxView;
      /**
       * Pass it as `before` to the next activity for the same request, in case the service no longer knows this stop.
       */
      readonly before: BeforeRequest | null;
      /** Reference of the stored result; null or absent if none was stored. */
      readonly resultRef?: string | null;
    }
  | 'gone';

/**
 * Stops a sandbox. If a stop is already in progress, returns that stop. Does not mistake an earlier stop of somebody
 * else for its own. If an answer is lost, the request is repeated only if the sandbox has not changed since. Otherwise
 * the repetition could stop a sandbox that a person has just resumed (specification, stop; trap S7).
 */
export function stopSandboxActivity(client: SandboxClient, results: ResultStore) {
  return async function stopSandbox(input: StopSandboxInput): Promise<StopAnswer> {
    const { transcript, result, ...call } = input;
    return readFirst(client, { ...input, given: stateIn(input) }, async (tools) => {
      const resultRef = result && (await storeBeforeEnd(results, result));
      if (transcript) await storeTranscript({ client, results, attempt: tools.attempt }, transcript);
      try {
        const answer = await stopOnce(client, call, tools);
        return answer === 'gone' || resultRef === undefined ? answer : { ...answer, resultRef };
      } catch (error) {
        if (tools.isBelieved(error)) return 'gone';
        throw error;
      }
    });
  };
}

/**
 * A read older than this, in ms, does not replace the read before a stop. If somebody stops and resumes the sandbox in
 * this time, and the answer to our request is lost, it looks like a resume after our request.
 */
const freshForMs = 2_000;

async function stopOnce(
  client: SandboxClient,
  { sandboxId, unlessWorking = false, seen }: StopSandboxInput,
  tools: ReadFirst,
): Promise<StopAnswer> {
  const look = async () => sandboxView(await tools.look());
  const isGiven = canStop(seen, tools);
  const sandbox = isGiven ? seen.view : await look();
  if (unlessWorking && sandbox.state === 'running')
    return { how: 'in_use', stop: sandbox.stop, sandbox, before: tools.before() };
  const found = answerOf(sandbox, tools.before());
  // This read may be older than a resume. The answer to a stop request is always current: for an archived sandbox, it
  // contains the last stop.
  const mayBeOld = found !== undefined && found !== 'gone' && found.how === 'already_archived';
  if (found && !mayBeOld) return found;
  const before = tools.before() ?? { previousStopId: sandbox.stop?.id ?? null };
  try {
    const stop = stopOfAnswer(await tools.send(before, () => client.stopSandbox(sandboxId), { isGiven }));
    if (found && sandbox.stop && stop?.id === sandbox.stop.id) return found;
    // If the answer shows a stop that has ended, it may come from a cache. A read of the sandbox decides.
    if (isOpenStop(stop)) return { how: 'asked', stop, sandbox, before };
  } catch (error) {
    if (!isFinal(error) && !(mayBeOld && isRefusal(error))) throw error;
    // Since the read, the request may have become unnecessary.
    const settled = answerOf(await look(), tools.before());
    if (settled) return settled;
    throw error;
  }
  const settled = answerOf(await look(), before);
  if (settled) return settled;
  throw new UnexpectedResponseError('stopSandbox', 202, 'stop', 'is not a stop of this sandbox');
}

/** The state before the request, if the first attempt may have used the read in the input. */
function stateIn({ seen }: StopSandboxInput): BeforeRequest | undefined {
  if (seen === undefined || !isFresh(seen, activityInfo().scheduledTimestampMs)) return undefined;
  return { previousStopId: seen.view.stop?.id ?? null };
}

function isFresh({ view, atMs }: SeenSandbox, nowMs: number): boolean {
  return Math.abs(nowMs - atMs) < freshForMs && decideStop(view, null) === 'ask';
}

/** True if the sandbox was just seen running, and nothing was sent since. */
function canStop(seen: SeenSandbox | undefined, { attempt, before }: ReadFirst): seen is SeenSandbox {
  if (seen === undefined || attempt.attempt > 1 || before() !== null) return false;
  return isFresh(seen, Date.now());
}

function answerOf(sandbox: SandboxView, before: BeforeRequest | null): StopAnswer | undefined {
  const how = decideStop(sandbox, before);
  if (how === 'ask') return undefined;
  if (how === 'gone') return how;
  return { how, stop: sandbox.stop, sandbox, before };
}

/**
 * True if the request need not be repeated after this refusal: waiting does not help, or the state of the sandbox has
 * changed since the read.
 */
function isFinal(error: unknown): boolean {
  return isRefusal(error) && (error.meaning === 'permanent' || error.meaning === 'wait_out');
}

function isRefusal(error: unknown): error is ApiError {
  return error instanceof ApiError && error.typed && error.status !== 404;
}

export interface ResumeSandboxInput {
  readonly sandboxId: string;
  readonly body: ResumeBody;
  /** The last known stop before the resume; a newer stop means that somebody else requested it. */
  readonly previousStopId: string | null;
  /** How long a 404 must last to be final, in ms. Default: 90 s. */
  readonly readLagMs?: number;
}

export type ResumedSandbox = SandboxView & {
  /**
   * `resumed`: the service accepted the resume; reads may show the archived sandbox with its old stop for a while.
   * `found`: the sandbox was not archived. `stopped_again`: somebody requested another stop, which a resume would undo.
   */
  readonly how: 'resumed' | 'found' | 'stopped_again';
};

/**
 * Resumes a sandbox only if it is archived and has no stop that the caller does not know. Otherwise a repeated call
 * could undo a newer stop of somebody else.
 * @returns the sandbox after the resume or, without a resume, after the last read
 */
export function resumeSandboxActivity(client: SandboxClient) {
  return async function resumeSandbox(input: ResumeSandboxInput): Promise<ResumedSandbox> {
    const { sandboxId, body, previousStopId, readLagMs } = input;
    const before = { previousStopId };
    return readFirst(client, { sandboxId, readLagMs }, async (tools) => {
      const found = await tools.look();
      const decision = decideResume(found, before);
      if (decision !== 'ask') return { ...sandboxView(found), how: decision };
      const { sandbox } = await tools.send(before, () => client.resumeSandbox(sandboxId, body));
      return { ...sandboxView(sandbox), how: 'resumed' };
    });
  };
}

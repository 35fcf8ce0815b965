/**
 * Follows a prompt. The service sends no event when a prompt ends (trap S1), so the activity polls. Reads that all
 * follows share show when a prompt may have ended. One read of the prompt or its conversation confirms it. A long prompt
 * is handed over, so that no activity lasts as long as it does.
 */
import { activityInfo, Context, heartbeat, log } from '@temporalio/activity';
import { promptFollowerId } from '../../src/addresses/addresses.js';
import type { SandboxClient } from '../../src/client/index.js';
import { orNullWhenMissing } from '../../src/client/missing.js';
import type { Sandbox } from '../../src/contract/records/sandbox-records.js';
import { type DegradedSandbox, degradedOf } from '../../src/contract/workflow-safe/sandbox-view.js';
import { unanswered } from '../../src/contract/workflow-safe/service-failure.js';
import { isFinalPromptStatus, isUsable, sandboxStates } from '../../src/contract/workflow-safe/states.js';
import { type FollowRegistration, followSignal, workflowTypes } from '../../src/protocol/messages.js';
import type { ResultStore } from '../../src/result-store/index.js';
import { reasonOf } from '../../src/temporal/errors.js';
import { cut } from '../../src/texts/length.js';
import {
  type Attempt,
  currentAttempt,
  defaultYoungMs,
  withHeartbeat,
  type YoungFollowOptions,
} from '../retry/attempt.js';
import { finalFailure, repeatableFailure } from '../retry/classify.js';
import { sandboxView } from '../sandbox-view.js';
import {
  endOf,
  type FollowedPrompt,
  noteOf,
  type PromptEnd,
  type PromptEndSeen,
  type PromptSeen,
  readPromptEnd,
} from './end.js';
import { createFollower, type FollowHub, readSingle, type SharedRead } from './follow-hub.js';
import { createPromptRecords, type PromptRecord, type PromptRecords } from './record.js';

export interface FollowPromptInput extends FollowedPrompt {
  /** Key of the prompt's record in the result store. The record describes the state before the prompt. */
  readonly recordKey: string;
  /** False if others use the same sandbox. A prompt without an id can then be identified only by its record. */
  readonly isOwnSandbox: boolean;
  /** Key of the full result in the result store, if it is too long for history. */
  readonly resultKey: string;
  /** Longest part of the answer that history and the job can hold, in bytes. */
  readonly answerBytes: number;
  /** True if conversations run in parallel. The state of the sandbox then does not show which conversation ended. */
  readonly sideBySide: boolean;
  /** How long a read may lag behind a write, in ms. An observation that lasts longer is final. */
  readonly readLagMs: number;
  /** Default: the activity follows the prompt to its end. */
  readonly handOver?: HandOver;
}

/** How a prompt that lasts for long is handed over: the activity then returns null. */
export interface HandOver {
  /** When the follow of the prompt began, in ms since the epoch. */
  readonly sinceMs: number;
  /**
   * How long the follower of prompts tells the workflow that the sandbox has left `running`, in ms since the epoch. Null
   * if it knows the prompt, or if that says nothing of the prompt, because others use the sandbox.
   */
  readonly toldUntilMs: number | null;
}

/** The dependencies of one follow. */
interface Follow {
  readonly client: SandboxClient;
  readonly input: FollowPromptInput;
  readonly attempt: Attempt;
  readonly readEnd: () => Promise<PromptSeen>;
  /** Called with every read of the sandbox. */
  readonly onRead: (sandbox: Sandbox) => void;
  /** Hands the prompt over if it has lasted for long. @returns false if the follow must go on */
  readonly isHandedOver: () => Promise<boolean>;
  /** True if the follow begins with a look: the prompt was handed over. */
  readonly isLook: boolean;
}

/** The follower of prompts is told this long before the hand-over, in ms: as long as one of its rounds. */
const toldBeforeMs = 45_000;
/** The most follows of a worker that wait for young prompts. Others are handed over at once. */
const youngAtMost = 500;
const maxErrorLength = 2_000;
/** Looks that are further apart show no idle time between them, in ms. */
const longestUnseenMs = 60_000;
/**
 * Used if conversations run in parallel: after this many reads of the list, the prompt itself is read, even while the
 * sandbox is running.
 */
const confirmEveryTicks = 4;
/**
 * Wait before the state of the sandbox is read again, in ms. If a stop ended the prompt, the state may change a moment
 * later.
 */
const stateFollowsMs = 1_000;

/**
 * Follows a prompt until it has ended, or until it is handed over. Safe to repeat; heartbeats if it lasts.
 * @returns null if the prompt was handed over, and may still run
 */
export function followPromptActivity(
  client: SandboxClient,
  hub: FollowHub,
  { results, taskQueue, youngFollowMs = defaultYoungMs }: FollowOptions,
) {
  const follow = createFollow(client, hub, results);
  let follows = 0;
  return async function followPrompt(input: FollowPromptInput): Promise<PromptEnd | null> {
    const youngMs = follows < youngAtMost ? youngFollowMs : 0;
    if (!isLong(input, youngMs)) heartbeat();
    const places = input.handOver ? 1 : 0;
    follows += places;
    try {
      return await withHeartbeat(() => follow(input, currentAttempt().signal, { youngMs, taskQueue }));
    } finally {
      follows -= places;
    }
  };
}

export interface FollowOptions extends YoungFollowOptions {
  readonly results: ResultStore;
  /** The task queue of the follower of prompts. */
  readonly taskQueue: string;
}

/** A follow that may hand its prompt over. */
interface HandingOver {
  /** The age of a prompt that is handed over, in ms. */
  readonly youngMs: number;
  readonly taskQueue: string;
}

/**
 * Follows prompts until they end or the signal is aborted, as part of an activity that sends the heartbeats.
 * @param over how a prompt is handed over whose input allows it. Default: it is not
 * @throws as `repeatable`
 */
export function createFollow(client: SandboxClient, hub: FollowHub, results: ResultStore) {
  const records = createPromptRecords(results);
  return async (input: FollowPromptInput, signal: AbortSignal, over?: HandingOver): Promise<PromptEnd | null> => {
    const current = currentAttempt();
    const attempt: Attempt = { ...current, signal, call: (make) => current.call(() => make(signal)) };
    const readRecord = recordReader(records, input);
    const readEnd = () => readPromptEnd(client, input, { attempt, readRecord });
    try {
      let degraded: DegradedSandbox | null = null;
      const onRead = (sandbox: Sandbox) => {
        degraded = degradedOf(sandboxView(sandbox)) ?? degraded;
      };
      const isHandedOver = handOverOf(input, over);
      const isLook = over !== undefined && isLong(input, over.youngMs);
      const end = await followUntilEnd(hub, { client, input, attempt, readEnd, onRead, isHandedOver, isLook });
      if (end === null) return null;
      const { sandboxId } = input;
      if (end.note !== undefined) log.warn('not all of a prompt could be read', { sandboxId, note: end.note });
      const value = await cutResult(end, input, results);
      return degraded === null ? value : { ...value, degraded };
    } catch (error) {
      throw repeatableFailure(error, { pauseMs: attempt.pauseMs });
    }
  };
}

const ageMs = ({ sinceMs }: HandOver) => Date.now() - sinceMs;

const isLong = ({ handOver }: FollowPromptInput, youngMs: number) =>
  handOver !== undefined && ageMs(handOver) >= youngMs;

/** @returns a function that says whether the prompt is handed over now */
function handOverOf({ handOver, sandboxId }: FollowPromptInput, over: HandingOver | undefined) {
  let isTold = handOver?.toldUntilMs === null;
  let isRefused = false;
  return async (): Promise<boolean> => {
    if (!handOver || !over) return false;
    if (!isTold && ageMs(handOver) >= over.youngMs - toldBeforeMs) {
      const { sinceMs, toldUntilMs } = handOver;
      const why = await refusalOf({ sandboxId, sinceMs, untilMs: toldUntilMs ?? 0 }, over);
      isTold = why === undefined;
      if (!isTold && !isRefused) log.warn('the follower of prompts does not take a prompt', { sandboxId, why });
      isRefused = !isTold;
    }
    return isTold && ageMs(handOver) >= over.youngMs;
  };
}

/** Registers a prompt with the follower. @returns why Temporal did not take the registration; undefined if it did */
async function refusalOf(
  prompt: Omit<FollowRegistration, 'workflowId'>,
  { taskQueue }: Pick<HandingOver, 'taskQueue'>,
): Promise<string | undefined> {
  const { workflowId = '' } = activityInfo().workflowExecution ?? {};
  try {
    await Context.current().client.workflow.signalWithStart(workflowTypes.promptFollower, {
      workflowId: promptFollowerId(taskQueue),
      taskQueue,
      args: [{}],
      signal: followSignal,
      signalArgs: [{ workflowId, ...prompt }],
    });
    return undefined;
  } catch (error) {
    return error instanceof Error ? reasonOf(error) : String(error);
  }
}

/** Reads the record once. */
export function recordReader(
  records: PromptRecords,
  input: Pick<FollowPromptInput, 'recordKey' | 'isOwnSandbox'>,
): () => Promise<PromptRecord | null> {
  let record: PromptRecord | null = null;
  return async () => {
    record ??= await records.read(input.recordKey);
    if (record || input.isOwnSandbox) return record;
    const message = 'The result store has no record of the state before the prompt. Do the workers share one store?';
    throw finalFailure({ ...unanswered, code: 'record_missing', message, meaning: 'blocked' });
  };
}

/**
 * A sandbox is `running` exactly while it has prompts (specification, "States and transitions"). So one that is usable
 * and idle for longer than a read may lag has no prompt left, whatever the reads of the prompt show.
 * @returns null if the prompt was handed over
 */
async function followUntilEnd(hub: FollowHub, one: Follow): Promise<PromptEnd | null> {
  const { sandboxId, sideBySide, readLagMs, handOver } = one.input;
  // The pauses of a look grow from its own beginning.
  const follower = createFollower(hub, sandboxId, one.isLook ? undefined : handOver?.sinceMs);
  const followedSinceMs = Date.now();
  const lasts = (sinceMs: number | undefined) => sinceMs !== undefined && Date.now() - sinceMs >= readLagMs;
  let missingSinceMs: number | undefined;
  let unseenSinceMs: number | undefined;
  let unreadSinceMs: number | undefined;
  let idleSinceMs: number | undefined;
  let lookedAtMs = Date.now();
  let known: PromptEndSeen | undefined;
  for (let tick = 1; ; tick += 1) {
    const read = one.isLook && tick === 1 ? await readItself(one) : await follower.next(one.attempt.signal);
    if (read) one.onRead(read.sandbox);
    // Between two looks that are far apart, the sandbox may have run.
    if (Date.now() - lookedAtMs >= Math.max(readLagMs, longestUnseenMs)) idleSinceMs = undefined;
    lookedAtMs = Date.now();
    const shared = read?.sandbox.state;
    if (shared === 'running') {
      idleSinceMs = undefined;
      if (await one.isHandedOver()) return null;
      if (!(sideBySide && tick % confirmEveryTicks === 0)) continue;
    }
    // What the prompt's reads show must be newer than what the state of the sandbox may lag behind.
    const isIdle = lasts(idleSinceMs);
    // Only a read of the sandbox itself shows whether it still exists.
    const { end, unread } = await one.readEnd();
    if (end && isFinalPromptStatus(end.status))
      return { ...end, ...(await stateAtEnd(one, end)), ...seenAs(read), resultRef: null };
    known = end ?? known;
    const isUnread = !end && unread.length > 0;
    if (isUnread) unreadSinceMs ??= Date.now();
    else unreadSinceMs = undefined;
    if (end || (isUnread && idleSinceMs === undefined)) unseenSinceMs = undefined;
    else unseenSinceMs ??= Date.now();
    const isUnseen = !isUnread && lasts(unseenSinceMs);
    if (shared !== undefined && isUsable(shared)) {
      if (isUnseen) return withoutEnd(one.input, 'not_found', shared);
      if (shared !== 'running') idleSinceMs ??= Date.now();
      if (!isIdle) continue;
    }
    // A list may be incomplete, stale or wrong, so only a read of the sandbox itself counts.
    const own = await readItself(one);
    if (own) one.onRead(own.sandbox);
    const state = own?.sandbox.state ?? null;
    if (state === null) missingSinceMs ??= Date.now();
    else missingSinceMs = undefined;
    const doubtedSinceMs = state === null ? (missingSinceMs ?? Date.now()) : followedSinceMs;
    if (isLoss(state) && Date.now() - doubtedSinceMs >= readLagMs) return withoutEnd(one.input, 'sandbox_lost', state);
    if (isUnseen && state !== null && isUsable(state)) return withoutEnd(one.input, 'not_found', state);
    if (state === null || !isUsable(state) || state === 'running') idleSinceMs = undefined;
    else if (isIdle && (known || lasts(unreadSinceMs))) {
      const ended = known ? { ...known, ...endOf(known) } : withoutEnd(one.input, 'completed', state);
      const note = [...(ended.note ? [ended.note] : []), ...(unread.length > 0 ? [noteOf(unread)] : [])].join(' ');
      return { ...ended, note, sandboxState: state, ...seenAs(own), resultRef: null };
    } else idleSinceMs ??= Date.now();
    await follower.pause(one.attempt.signal);
  }
}

function seenAs(read: SharedRead | null | undefined): Pick<PromptEnd, 'sandbox'> {
  return read ? { sandbox: { view: sandboxView(read.sandbox), atMs: read.atMs } } : {};
}

/** The sandbox as a read of it alone shows it; null if it does not exist. */
function readItself({ client, input, attempt }: Follow): Promise<SharedRead | null> {
  return orNullWhenMissing(attempt.call((signal) => readSingle(client, input.sandboxId, { signal })));
}

/** An unknown state does not mean that the sandbox is lost. The record of the prompt at the service shows its end. */
function isLoss(state: string | null): boolean {
  return state === null || (!isUsable(state) && (sandboxStates as readonly string[]).includes(state));
}

/**
 * The state of the sandbox, if it may explain why the prompt did not complete: a stop or an error ends running prompts.
 * @returns `idle` if unknown
 */
async function stateAtEnd(one: Follow, { status }: PromptEndSeen): Promise<{ readonly sandboxState: string | null }> {
  if (status === 'completed') return { sandboxState: 'idle' };
  try {
    const sandboxState = await readState(one);
    if (sandboxState !== 'running') return { sandboxState };
    await new Promise((resolve) => setTimeout(resolve, stateFollowsMs));
    return { sandboxState: await readState(one) };
  } catch {
    // The end of the prompt is known. It must be reported even if this read, which would explain it, fails.
    return { sandboxState: 'idle' };
  }
}

async function readState(one: Follow): Promise<string | null> {
  const read = await readItself(one);
  if (read) one.onRead(read.sandbox);
  return read?.sandbox.state ?? null;
}

function withoutEnd(input: FollowPromptInput, status: string, sandboxState: string | null): PromptEnd {
  return {
    status,
    sandboxState,
    promptId: input.promptId,
    result: null,
    resultRef: null,
    error: null,
    queuedAt: null,
    startedAt: null,
    endedAt: null,
    ...(status === 'not_found' && { note: 'The service accepted the prompt, but does not show it' }),
  };
}

/** Cuts an answer that is too long for history, and stores the full one in the result store. */
async function cutResult(
  given: PromptEnd,
  { resultKey, answerBytes }: Pick<FollowPromptInput, 'resultKey' | 'answerBytes'>,
  results: ResultStore,
): Promise<PromptEnd> {
  const end = { ...given, error: given.error && cut(given.error, Math.min(maxErrorLength, answerBytes)) };
  if (end.result === null) return end;
  const whole = Buffer.from(end.result);
  if (whole.byteLength <= answerBytes) return end;
  const { ref } = await results.put(resultKey, whole);
  // A cut inside a character leaves its first bytes, which decode to a replacement character.
  const result = whole
    .subarray(0, answerBytes)
    .toString('utf8')
    .replace(/\uFFFD$/, '');
  return { ...end, result, resultRef: ref };
}

/**
 * Records in the result store when the key of an item's fork was first sent, and with which body. A batch may be
 * resumed days later, with another policy, by a run that knows nothing of earlier runs. The service's list may omit the
 * fork (trap S13). The key can be used for a day after it was first sent, and only with the same body. The record also
 * tells a resume from which state the fork was to start.
 */
import { randomUUID } from 'node:crypto';
import { activityInfo } from '@temporalio/activity';
import { ApiError } from '../../src/client/index.js';
import type { SourceState } from '../../src/contract/workflow-safe/source-state.js';
import type { SentFork } from '../../src/result-store/fanout-objects.js';
import type { ResultStore } from '../../src/result-store/index.js';
import { putAfter } from '../../src/result-store/put-after.js';
import { findStoredJson, storedJson } from '../../src/result-store/stored-json.js';
import { whileAttemptLives } from './attempt.js';
import { effectOf } from './classify.js';
import type { KeyedSandbox } from './keyed-create.js';

/** The parts of a call with an idempotency key that must be the same in every repetition. */
export interface RecordedCall<Body> {
  readonly body: Body;
  /** Earliest possible time of the key's first send, in ms since the epoch. */
  readonly firstSentAtMs: number;
  readonly lookFirst: boolean;
  /** Key of the record in the result store. Default: no record. */
  readonly record?: string;
  /** The state that the sandbox must start from. Default: any. */
  readonly startsFrom?: SourceState;
}

interface SentKey<Body> extends SentFork {
  readonly firstSentAtMs: number;
  /** Run id of the workflow that sent the key first. */
  readonly by: string;
  readonly body: Body;
}

/** Allowed clock skew, in ms. A sandbox that is older than the call by more than this was created before the call. */
const clockSkewMs = 300_000;

/**
 * Makes the call with its original body, and reports whether an earlier run may have made it. Safe to repeat.
 * @param send makes the call with its key
 */
export async function sendRecorded<Body, Call extends RecordedCall<Body>>(
  call: Call,
  options: { readonly results: ResultStore; readonly send: (call: Call) => Promise<KeyedSandbox> },
): Promise<KeyedSandbox> {
  const { results, send } = options;
  if (call.record === undefined) return send(call);
  const known = await findStoredJson<SentKey<Body>>(results, call.record);
  const sent = known?.state === 'sent' ? known : undefined;
  const { workflowExecution, attempt } = activityInfo();
  const by = workflowExecution?.runId ?? '';
  const { body, startsFrom } = call;
  const record = sent ?? {
    state: 'sent' as const,
    firstSentAtMs: Date.now(),
    by,
    body,
    ...(startsFrom && { startsFrom }),
  };
  // A `not_sent` of an earlier attempt may still be on its way. It replaces nothing that was written after it began.
  if (!sent || attempt > 1) await write(results, call.record, record);
  try {
    const made = await again(known?.body, (body) => {
      return send({ ...call, firstSentAtMs: record.firstSentAtMs, body: body ?? record.body });
    });
    const isEarlier = sent ? sent.by !== by : call.lookFirst && isOlder(made, call.firstSentAtMs);
    return isEarlier ? { ...made, found: true } : made;
  } catch (error) {
    if (!sent && effectOf(error) === 'none') await write(results, call.record, { ...record, state: 'not_sent' });
    throw error;
  }
}

/**
 * The service remembers a refused call for some minutes. In this time it accepts the key only with the same body.
 */
async function again<Body, T>(before: Body | undefined, send: (body?: Body) => Promise<T>): Promise<T> {
  try {
    return await send();
  } catch (error) {
    const isReused = error instanceof ApiError && error.typed && error.code === 'idempotency_key_reused';
    if (!isReused || before === undefined) throw error;
    return send(before);
  }
}

function isOlder({ createdAt }: KeyedSandbox, thanMs: number): boolean {
  return createdAt !== null && Date.parse(createdAt) < thanMs - clockSkewMs;
}

async function write(results: ResultStore, key: string, record: SentKey<unknown>): Promise<void> {
  // An attempt that Temporal has given up may not know it yet: its write must replace nothing of the next one.
  const nothingNewer = Promise.resolve();
  // If two writes had the same bytes, a late one could take the second for the first.
  const content = storedJson({ ...record, write: randomUUID() });
  await whileAttemptLives((signal) => putAfter(results, nothingNewer, key, content, { signal }));
}

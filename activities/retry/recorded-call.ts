/**
 * Remembers in the result store that the key of an item's fork was sent, when first, and with which body. A batch is resumed
 * days later, with another policy, by a run that knows nothing of the earlier ones; and the service's list may leave the
 * fork out (trap S13). A key is trusted for a day from its first send, and only with the very body that it was sent with.
 */
import { posix } from 'node:path';
import { activityInfo } from '@temporalio/activity';
import { ApiError } from '../../src/client/index.js';
import type { ResultStore } from '../../src/result-store/index.js';
import { effectOf } from './classify.js';
import type { KeyedSandbox } from './idempotent-create.js';

/** What a keyed call is made of, as far as it must be the same when it is repeated. */
export interface RecordedCall<Body> {
  readonly body: Body;
  /** When the key was first sent, at the earliest, in ms since the epoch. */
  readonly firstSentAtMs: number;
  readonly lookFirst: boolean;
  /** Key of the record in the result store. Default: none is kept. */
  readonly record?: string;
}

interface SentKey<Body> {
  /** `not_sent`: every call with the key was refused, so that it had no effect. */
  readonly state: 'sent' | 'not_sent';
  readonly firstSentAtMs: number;
  /** Run of the workflow that sent it first. */
  readonly by: string;
  readonly body: Body;
}

/** A sandbox that is older than the call by more than clocks may differ was made before it. */
const clockSkewMs = 300_000;

/**
 * Makes the call as it was first made, and says whether an earlier run may have made it. Safe to repeat.
 * @param send makes the call with its key
 */
export async function sendRecorded<Body, Call extends RecordedCall<Body>>(
  call: Call,
  options: { readonly results: ResultStore; readonly send: (call: Call) => Promise<KeyedSandbox> },
): Promise<KeyedSandbox> {
  const { results, send } = options;
  if (call.record === undefined) return send(call);
  const known = await readRecord<Body>(results, call.record);
  const sent = known?.state === 'sent' ? known : undefined;
  const by = activityInfo().workflowExecution?.runId ?? '';
  const record = sent ?? ({ state: 'sent', firstSentAtMs: Date.now(), by, body: call.body } as const);
  if (!sent) await write(results, call.record, record);
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

/** The service remembers a refused call for some minutes, and then takes its key only with the body of then. */
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

async function readRecord<Body>(results: ResultStore, key: string): Promise<SentKey<Body> | undefined> {
  const object = (await results.list(posix.dirname(key))).find((listed) => listed.key === key);
  return object && (JSON.parse((await results.get(object.ref)).toString('utf8')) as SentKey<Body>);
}

async function write(results: ResultStore, key: string, record: SentKey<unknown>): Promise<void> {
  await results.put(key, Buffer.from(JSON.stringify(record)));
}

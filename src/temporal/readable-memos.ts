/**
 * Lists and describes workflows even if a part of a memo cannot be read. A value with a lost key must not hide other
 * values. One memo of an unknown key made a whole list fail, and a cleanup take a kept sandbox for one that may go.
 */
import { Client, type WorkflowExecutionDescription, WorkflowNotFoundError } from '@temporalio/client';
import { defaultPayloadConverter, type Payload, type PayloadCodec } from '@temporalio/common';
import { SandflowError } from '../errors/sandflow-error.js';
import { isRefusedInput } from '../protocol/refused-input.js';

/** Why a value of a memo cannot be read. */
export interface UnreadableMemo {
  /** `encryption_key_unknown`, `not_decryptable`, `not_encrypted`, or `unreadable` for a payload of another origin. */
  readonly code: string;
  readonly message: string;
}

const mark = 'sandflowUnreadable';

/**
 * Creates a client on the same connection, for lists, descriptions and writes. It replaces each unreadable value
 * instead of failing the whole list or description. `memoOf` finds the replacements in memos. Use the original client
 * for results and queries, since its errors say why a value cannot be read. Sends no request.
 */
export function lenientClient({ connection, options }: Client): Client {
  const { payloadCodecs, payloadConverter } = options.loadedDataConverter;
  const codec: PayloadCodec = {
    async encode(payloads, context) {
      const values = payloads.map((payload) => defaultPayloadConverter.fromPayload(payload));
      let written = values.map((value) => payloadConverter.toPayload(value, context) as Payload);
      for (const inner of payloadCodecs) written = await inner.encode(written, context);
      return written;
    },
    decode: (payloads, context) =>
      Promise.all(
        payloads.map(async (payload): Promise<Payload> => {
          let value: unknown;
          try {
            let read = [payload];
            for (const inner of payloadCodecs.toReversed()) read = await inner.decode(read, context);
            value = payloadConverter.fromPayload(read[0] as Payload, context);
          } catch (error) {
            value = { [mark]: reasonOf(error) };
          }
          return defaultPayloadConverter.toPayload(isRefusedInput(value) ? { [mark]: refused } : value);
        }),
      ),
  };
  return new Client({ connection, namespace: options.namespace, dataConverter: { payloadCodecs: [codec] } });
}

/**
 * Describes a workflow as `describe` of a handle does, but without the unreadable values of its memo.
 * @throws what `describe` throws
 */
export async function describeReadable(client: Client, workflowId: string): Promise<WorkflowExecutionDescription> {
  const described = await lenientClient(client).workflow.getHandle(workflowId).describe();
  return { ...described, memo: { ...memoOf(described.memo).memo } };
}

/** Describes a workflow with the replacements of `lenientClient`; undefined if Temporal knows none, or not this run. */
export async function describeIfThere(
  client: Client,
  workflowId: string,
  runId?: string,
): Promise<WorkflowExecutionDescription | undefined> {
  try {
    return await lenientClient(client).workflow.getHandle(workflowId, runId).describe();
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  }
}

/**
 * @returns the readable values of a memo, and why its first unreadable value cannot be read (null if there is none)
 */
export function memoOf(memo: Readonly<Record<string, unknown>> | undefined): {
  readonly memo: Readonly<Record<string, unknown>>;
  readonly unreadable: UnreadableMemo | null;
} {
  const entries = Object.entries(memo ?? {});
  const readable = entries.filter(([, value]) => markIn(value) === undefined);
  const [first = null] = entries.flatMap(([, value]) => markIn(value) ?? []);
  return { memo: Object.fromEntries(readable), unreadable: first };
}

const refused: UnreadableMemo = {
  code: 'not_encrypted',
  message: 'A memo is not encrypted, and this worker is configured to refuse unencrypted payloads.',
};

function reasonOf(error: unknown): UnreadableMemo {
  if (error instanceof SandflowError) return { code: error.code, message: error.message };
  return { code: 'unreadable', message: 'A memo is neither unencrypted JSON nor encrypted by sandflow.' };
}

function markIn(value: unknown): UnreadableMemo | undefined {
  if (typeof value !== 'object' || value === null || !(mark in value)) return undefined;
  // The fields are not trusted, since anyone who can write to Temporal can write such a value.
  const { code, message } = (value[mark] ?? {}) as Partial<UnreadableMemo>;
  return { code: String(code), message: String(message) };
}

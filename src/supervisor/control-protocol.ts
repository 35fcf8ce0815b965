/**
 * The messages between the supervisor and its clients: lines of JSON over a TCP connection on the loopback interface.
 *
 *     client      {"nonce"}
 *     supervisor  {"type":"hello", "pid", "proof", "nonce"}
 *     client {"proof", "settings", "client"} its settings, and the name of its command
 *     supervisor  {"type":"progress", "line"} …            while the stack starts
 *                 {"type":"ready", "stack"} or {"type":"failed", "code", "message"}
 *
 * A command that asks about the stack does not join it and needs no settings:
 *
 *     client      {"proof", "ask"}                         one of `asks`
 *     supervisor  {"type":"status", "status"}
 *
 * Each side proves to the other that it knows the token of the state file, without sending the token. The supervisor
 * may have died, and another program may use its port. Such a program must not learn the token, and its answers must
 * not be trusted.
 *
 * A client counts as present while its connection is open. The kernel closes the connection when the client ends, even
 * after a crash.
 */
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Socket } from 'node:net';
import { StringDecoder } from 'node:string_decoder';
import { z } from 'zod';
import type { Config } from '../config.js';
import { parseJson } from '../texts/parse-json.js';
import type { OpenDelivery } from '../workflow-client/open-deliveries.js';

const stackDescriptionSchema = z.object({
  temporalAddress: z.string(),
  namespace: z.string(),
  uiUrl: z.string().optional(),
  sandboxApiUrl: z.string(),
  /** What requests need, if the local service plays another one. */
  assumed: z.record(z.string(), z.string()).optional(),
  /** Undefined if there is no webhook secret: no bridge runs then. */
  bridgeUrl: z.string().optional(),
  /** Where the bridge listens, or will listen as soon as there is a secret. */
  bridgeAddress: z.string().optional(),
});
export type StackDescription = z.infer<typeof stackDescriptionSchema>;

/** A program that uses the stack. */
export const clientSchema = z.object({ pid: z.number().int(), command: z.string().max(200) });
export type ClientProgram = z.infer<typeof clientSchema>;

/**
 * `keep`: the stack stays up while it is idle. `end` is refused while the stack is in use; `force_end` is not. Both are
 * a `sandflow down`, but `end_start`, of a command that was interrupted during the start, ends only this stack.
 */
export const asks = ['status', 'keep', 'end', 'end_start', 'force_end'] as const;
export type Ask = (typeof asks)[number];

const undeliveredSchema: z.ZodType<OpenDelivery> = z.object({
  workflowId: z.string(),
  event: z.string().nullable(),
  target: z.string().nullable(),
  since: z.string(),
  until: z.string().nullable(),
  lastError: z.string().nullable(),
});

const stackStatusSchema = z.object({
  state: z.enum(['starting', 'ready', 'ending']),
  pid: z.number().int(),
  startedAt: z.string(),
  /** True for `sandflow up --foreground`. */
  foreground: z.boolean(),
  /** True after `sandflow up`: the stack stays up while it is idle. */
  kept: z.boolean(),
  /** When the stack ends if nobody uses it until then; null while it is in use or kept. */
  endsAt: z.string().nullable(),
  /** Null until the stack is ready. */
  stack: stackDescriptionSchema.nullable(),
  /** Process ids of the parts by name; null while a part restarts. */
  parts: z.record(z.string(), z.number().nullable()),
  /** `since`: when it connected, in ISO 8601. */
  clients: z.array(clientSchema.extend({ since: z.string() })),
  /** Number of open workflows without those that deliver notifications; null if Temporal does not answer. */
  openJobs: z.number().nullable(),
  /** Ids of some of the open jobs and batches. */
  openIds: z.array(z.string()),
  /** Number of schedules that are not paused; null if Temporal does not answer. */
  activeSchedules: z.number().nullable(),
  /** The names of some of them. */
  scheduleNames: z.array(z.string()),
  /** Number of notifications that are not delivered; null if Temporal does not answer. */
  undeliveredCount: z.number().nullable(),
  /** Some of them. */
  undelivered: z.array(undeliveredSchema),
});
export type StackStatus = z.infer<typeof stackStatusSchema>;

export const nonceSchema = z.string().min(32).max(64);

export const serverMessageSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('hello'), pid: z.number(), proof: z.string(), nonce: nonceSchema }),
  z.object({ type: z.literal('progress'), line: z.string() }),
  z.object({ type: z.literal('ready'), stack: stackDescriptionSchema }),
  z.object({ type: z.literal('failed'), code: z.string(), message: z.string() }),
  z.object({ type: z.literal('status'), status: stackStatusSchema }),
]);
export type ServerMessage = z.infer<typeof serverMessageSchema>;

/** Every change of the state file or of the messages that another version would misread takes the next number. */
export const controlVersion = 2;

/** The content of the state file: how to reach the supervisor of a home. */
export const supervisorStateSchema = z.object({
  version: z.literal(controlVersion),
  pid: z.number().int(),
  port: z.number().int(),
  token: z.string().min(16),
});
export type SupervisorState = z.infer<typeof supervisorStateSchema>;

/** What the state file of every version holds. */
export const anySupervisorStateSchema = z.object({ version: z.number().int(), pid: z.number().int().positive() });

/**
 * Computes a digest of all settings of a stack and its key. A client joins a stack only if the digests are equal.
 */
export function settingsDigest(config: Config): string {
  const { sandboxService, temporal, deployment, taskQueue, encryption, notify } = config;
  const { address, apiKey } = temporal.connect.connectionOptions;
  const { namespace } = temporal.connect;
  const parts = [
    sandboxService,
    temporal.configured,
    address,
    apiKey,
    namespace,
    deployment,
    taskQueue,
    encryption,
    notify.secretFile,
  ];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}

export function createNonce(): string {
  return randomBytes(24).toString('hex');
}

/** Proves knowledge of the token, as `role`, to the side that created `nonce`. */
export function proofOf(token: string, role: 'supervisor' | 'client', nonce: string): string {
  return createHmac('sha256', token).update(`${role} ${nonce}`).digest('hex');
}

export function isProof(given: string, ...claim: Parameters<typeof proofOf>): boolean {
  const [left, right] = [Buffer.from(given), Buffer.from(proofOf(...claim))];
  return left.length === right.length && timingSafeEqual(left, right);
}

/** Longer than any message. The longest message says why a part did not start and quotes the end of its log. */
const maxLineLength = 256 * 1024;

/**
 * Handles each line that is JSON of the schema, and drops other lines. Closes the connection if a line is too long:
 * anybody on this machine can connect, and an unfinished line takes memory.
 */
export function onMessages<T>(socket: Socket, schema: z.ZodType<T>, handle: (message: T) => void): void {
  const decoder = new StringDecoder();
  let rest = '';
  socket.on('data', (chunk: Buffer) => {
    const lines = (rest + decoder.write(chunk)).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > maxLineLength) {
      rest = '';
      socket.destroy();
    }
    for (const line of lines) {
      const parsed = schema.safeParse(parseJson(line));
      if (parsed.success) handle(parsed.data);
    }
  });
}

export function sendMessage(socket: Socket, message: object): void {
  if (socket.writable) socket.write(`${JSON.stringify(message)}\n`);
}

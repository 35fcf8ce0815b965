/**
 * What supervisor and clients say to each other: lines of JSON over a TCP connection on the loopback interface.
 *
 *     client      {"token", "settings"}                    who it is, and which settings it has
 *     supervisor  {"type":"hello", "pid"}
 *                 {"type":"progress", "line"} …            while the stack starts
 *                 {"type":"ready", "stack"} or {"type":"failed", "code", "message"}
 *
 * The open connection is the sign of a present client: the kernel closes it however the client ends.
 */
import { createHash } from 'node:crypto';
import type { Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import type { Config } from '../config.js';

export const stackDescriptionSchema = z.object({
  temporalAddress: z.string(),
  namespace: z.string(),
  uiUrl: z.string().optional(),
  sandboxApiUrl: z.string(),
  /** File of the service's key, mode 600; undefined where the key is only in the environment. */
  sandboxApiKeyFile: z.string().optional(),
  /** Undefined where no bridge runs, since there is no webhook secret. */
  bridgeUrl: z.string().optional(),
});
export type StackDescription = z.infer<typeof stackDescriptionSchema>;

export const greetingSchema = z.object({ token: z.string(), settings: z.string() });

export const serverMessageSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('hello'), pid: z.number() }),
  z.object({ type: z.literal('progress'), line: z.string() }),
  z.object({ type: z.literal('ready'), stack: stackDescriptionSchema }),
  z.object({ type: z.literal('failed'), code: z.string(), message: z.string() }),
]);
export type ServerMessage = z.infer<typeof serverMessageSchema>;

/** How to reach the supervisor of a home; in its state file. */
export const supervisorStateSchema = z.object({
  pid: z.number().int(),
  port: z.number().int(),
  token: z.string().min(16),
});
export type SupervisorState = z.infer<typeof supervisorStateSchema>;

/** A digest of all that a stack depends on, so that nobody joins one that works with other settings or another key. */
export function settingsDigest(config: Config): string {
  const { sandboxService, temporal, deployment, taskQueue } = config;
  const { address, apiKey } = temporal.connect.connectionOptions;
  const { namespace } = temporal.connect;
  const parts = [sandboxService, temporal.configured, address, apiKey, namespace, deployment, taskQueue];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}

/** Hands over each line that is JSON of the schema; others are dropped. */
export function onMessages<T>(socket: Socket, schema: z.ZodType<T>, handle: (message: T) => void): void {
  const lines = createInterface({ input: socket });
  // It repeats the errors of the socket, which has a handler of its own.
  lines.on('error', () => undefined);
  lines.on('line', (line) => {
    const parsed = schema.safeParse(parseJson(line));
    if (parsed.success) handle(parsed.data);
  });
}

export function sendMessage(socket: Socket, message: object): void {
  if (socket.writable) socket.write(`${JSON.stringify(message)}\n`);
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

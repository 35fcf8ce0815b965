/** The supervisor's side of the control connection: knows which clients are connected, and sends them messages. */
import { rm } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { z } from 'zod';
import { boundStrangers } from '../os/bound-strangers.js';
import { listen } from '../os/listen.js';
import { writePrivateFile } from '../os/private-file.js';
import {
  type Ask,
  asks,
  clientSchema,
  controlVersion,
  createNonce,
  isProof,
  nonceSchema,
  onMessages,
  proofOf,
  type ServerMessage,
  type StackDescription,
  type StackStatus,
  type SupervisorState,
  sendMessage,
} from './control-protocol.js';

// Here, and not with the other messages: the commands do not read it, and making a schema takes time.
const clientMessageSchema = z.union([
  z.object({ nonce: nonceSchema }),
  z.object({ proof: z.string(), settings: z.string(), client: clientSchema.optional() }),
  z.object({ proof: z.string(), ask: z.enum(asks) }),
]);

const handshakeTimeoutMs = 5_000;
/**
 * Maximum number of connections that have not identified themselves. A client identifies itself at once. Beyond this
 * number, the oldest of these connections is closed.
 */
const maxUnidentifiedConnections = 64;
/** Maximum number of earlier progress lines that a client gets if it joins during the start. */
const keptProgressLines = 20;

export type ControlServer = Awaited<ReturnType<typeof openControlServer>>;

export interface ControlServerOptions {
  /** A digest of the settings. A client with other settings is turned away. */
  readonly settings: string;
  /** Answers a command that asks about the stack. Must not throw. */
  readonly answer: (ask: Ask) => Promise<StackStatus>;
}

/** Starts the server and writes the state file by which clients find it. The caller holds the supervisor's lock. */
export async function openControlServer(stateFile: string, { settings, answer }: ControlServerOptions) {
  const token = createNonce();
  const clients = new Map<Socket, StackStatus['clients'][number]>();
  const messages: ServerMessage[] = [];

  const sayStatus = async (socket: Socket, ask: Ask) => {
    const message: ServerMessage = { type: 'status', status: await answer(ask) };
    socket.end(`${JSON.stringify(message)}\n`).destroySoon();
  };
  const server = createServer((socket) => {
    const timeout = setTimeout(() => socket.destroy(), handshakeTimeoutMs);
    socket.on('error', () => socket.destroy());
    socket.once('close', () => {
      clearTimeout(timeout);
      clients.delete(socket);
    });
    const nonce = createNonce();
    let hasAnswered = false;
    onMessages(socket, clientMessageSchema, (message) => {
      if (!strangers.open.has(socket)) return;
      if ('nonce' in message) {
        // Only one answer per connection. Otherwise unread answers would fill the memory if a client never reads.
        if (hasAnswered) return void socket.destroy();
        hasAnswered = true;
        const proof = proofOf(token, 'supervisor', message.nonce);
        return sendMessage(socket, { type: 'hello', pid: process.pid, proof, nonce });
      }
      strangers.admit(socket);
      clearTimeout(timeout);
      if (!isProof(message.proof, token, 'client', nonce)) return void socket.destroy();
      if ('ask' in message) return void sayStatus(socket, message.ask);
      if (message.settings !== settings) return void socket.end(`${JSON.stringify(differs)}\n`);
      const { client = { pid: 0, command: 'unknown' } } = message;
      clients.set(socket, { ...client, since: new Date().toISOString() });
      for (const earlier of messages) sendMessage(socket, earlier);
    });
  });
  const strangers = boundStrangers(server, { most: maxUnidentifiedConnections });
  const { port } = await listen(server, { port: 0 });
  const state: SupervisorState = { version: controlVersion, pid: process.pid, port, token };
  await writePrivateFile(stateFile, JSON.stringify(state));

  const broadcast = (message: ServerMessage) => {
    // A client that joins when the stack is ready does not need the earlier progress lines.
    if (message.type === 'ready') messages.length = 0;
    messages.push(message);
    if (messages.length > keptProgressLines) messages.shift();
    for (const socket of clients.keys()) sendMessage(socket, message);
  };
  let closing: Promise<void> | undefined;
  const close = async () => {
    await rm(stateFile, { force: true });
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    for (const socket of [...clients.keys(), ...strangers.open]) socket.end().destroySoon();
    await closed;
  };
  return {
    /** The clients that are connected now. */
    clients: () => [...clients.values()],
    progress: (line: string) => broadcast({ type: 'progress', line }),
    ready: (stack: StackDescription) => broadcast({ type: 'ready', stack }),
    failed: (code: string, message: string) => broadcast({ type: 'failed', code, message }),
    /** Removes the state file and disconnects all clients. Safe to repeat. */
    close(): Promise<void> {
      closing ??= close();
      return closing;
    },
  };
}

const differs: ServerMessage = {
  type: 'failed',
  code: 'stack_differs',
  message:
    'The stack of this SANDFLOW_HOME runs with other settings (SANDBOX_API_*, TEMPORAL_* or SANDFLOW_*). End it ' +
    'with `sandflow down`, or set SANDFLOW_HOME to another directory for these settings.',
};

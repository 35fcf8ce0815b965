/** A client's side of the control connection. */
import { connect, type Socket } from 'node:net';
import { SandflowError } from '../errors/sandflow-error.js';
import { readJsonFile } from '../os/private-file.js';
import {
  type Ask,
  anySupervisorStateSchema,
  type ClientProgram,
  controlVersion,
  createNonce,
  isProof,
  onMessages,
  proofOf,
  type ServerMessage,
  type StackDescription,
  type StackStatus,
  type SupervisorState,
  sendMessage,
  serverMessageSchema,
  supervisorStateSchema,
} from './control-protocol.js';

const helloTimeoutMs = 3_000;
/** Longer than the supervisor waits for Temporal before it answers. */
const askTimeoutMs = 5_000;

export interface Presence {
  readonly stack: StackDescription;
  /** Resolves when the connection has ended, by `release` or because the supervisor has ended. */
  readonly lost: Promise<void>;
  /** Leaves the stack. Repeating it changes nothing. */
  release(): void;
}

interface JoinOptions {
  readonly stateFile: string;
  readonly settings: string;
  /** This program, for `sandflow status`. Default: unnamed. */
  readonly client?: ClientProgram;
  readonly onProgress: (line: string) => void;
  /** Ends the wait and leaves the stack. */
  readonly signal?: AbortSignal;
}

/**
 * The result of an attempt to join. `nobody`: there is no supervisor. `lost`: the supervisor ended before the stack was
 * ready.
 */
type Joined = 'nobody' | 'lost' | Presence;

/**
 * Joins the supervisor that the state file names and waits until its stack is ready.
 * @throws SandflowError with the supervisor's own code if the stack cannot start; `stack_differs`,
 *   `stack_of_other_version`
 */
export async function joinSupervisor(options: JoinOptions): Promise<Joined> {
  const { settings, client, onProgress, signal } = options;
  const state = await readState(options.stateFile);
  if (!state) return 'nobody';
  signal?.throwIfAborted();
  const socket = connect({ host: '127.0.0.1', port: state.port });
  const leave = () => void socket.destroy();
  signal?.addEventListener('abort', leave, { once: true });
  const lost = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  const handshake = createHandshake(socket, state);
  try {
    const stack = await readyStack(socket, lost, onProgress, (hello) => {
      const proof = handshake.answer(hello);
      if (proof === undefined) return false;
      sendMessage(socket, { proof, settings, client });
      return true;
    });
    signal?.throwIfAborted();
    return typeof stack === 'string' ? stack : { stack, lost, release: leave };
  } catch (error) {
    leave();
    throw error;
  } finally {
    signal?.removeEventListener('abort', leave);
  }
}

/** True if a supervisor answers, with any settings. */
export async function isSupervisorThere(stateFile: string): Promise<boolean> {
  const state = await readState(stateFile);
  if (!state) return false;
  const socket = connect({ host: '127.0.0.1', port: state.port });
  const handshake = createHandshake(socket, state);
  return new Promise((resolve) => {
    const settle = (there: boolean) => {
      clearTimeout(timeout);
      socket.destroy();
      resolve(there);
    };
    const timeout = setTimeout(() => settle(false), helloTimeoutMs);
    socket.on('error', () => settle(false)).once('close', () => settle(false));
    onMessages(socket, serverMessageSchema, (message) => {
      if (message.type === 'hello') settle(handshake.answer(message) !== undefined);
    });
  });
}

/**
 * Asks the supervisor about its stack, without joining it. Starts nothing.
 * @returns undefined if no supervisor answers
 * @throws SandflowError `stack_of_other_version`
 */
export async function askSupervisor(stateFile: string, ask: Ask): Promise<StackStatus | undefined> {
  const state = await readState(stateFile);
  if (!state) return undefined;
  const socket = connect({ host: '127.0.0.1', port: state.port });
  const handshake = createHandshake(socket, state);
  return new Promise((resolve) => {
    const settle = (status?: StackStatus) => {
      clearTimeout(timeout);
      socket.destroy();
      resolve(status);
    };
    const timeout = setTimeout(() => settle(), askTimeoutMs);
    socket.on('error', () => settle()).once('close', () => settle());
    let isKnown = false;
    onMessages(socket, serverMessageSchema, (message) => {
      if (message.type === 'hello') {
        const proof = handshake.answer(message);
        if (proof === undefined) return settle();
        isKnown = true;
        sendMessage(socket, { proof, ask });
      } else if (isKnown && message.type === 'status') settle(message.status);
    });
  });
}

function readyStack(
  socket: Socket,
  lost: Promise<void>,
  onProgress: (line: string) => void,
  enter: (hello: Hello) => boolean,
): Promise<StackDescription | 'nobody' | 'lost'> {
  return new Promise((resolve, reject) => {
    let accepted = false;
    // The supervisor may have died, and another program may use its port. Such a program sends no hello.
    const timeout = setTimeout(() => socket.destroy(), helloTimeoutMs);
    socket.on('error', () => socket.destroy());
    void lost.then(() => {
      clearTimeout(timeout);
      resolve(accepted ? 'lost' : 'nobody');
    });
    onMessages(socket, serverMessageSchema, (message) => {
      if (message.type === 'hello') {
        accepted = enter(message);
        clearTimeout(timeout);
        if (!accepted) socket.destroy();
      } else if (!accepted) socket.destroy();
      else if (message.type === 'progress') onProgress(message.line);
      else if (message.type === 'ready') resolve(message.stack);
      else if (message.type === 'failed') reject(new SandflowError({ foreign: message.code }, message.message));
    });
  });
}

type Hello = Extract<ServerMessage, { readonly type: 'hello' }>;

/**
 * Requests a proof from the supervisor. `answer` checks it and returns our own proof. It returns undefined if the other
 * side is not the supervisor that the state file names.
 */
function createHandshake(socket: Socket, { token }: SupervisorState): { answer(hello: Hello): string | undefined } {
  const nonce = createNonce();
  socket.once('connect', () => sendMessage(socket, { nonce }));
  return {
    answer: (hello) =>
      isProof(hello.proof, token, 'supervisor', nonce) ? proofOf(token, 'client', hello.nonce) : undefined,
  };
}

/** @throws SandflowError `stack_of_other_version` if a supervisor of another version runs */
async function readState(stateFile: string): Promise<SupervisorState | undefined> {
  const content = await readJsonFile(stateFile);
  const parsed = supervisorStateSchema.safeParse(content);
  if (parsed.success) return parsed.data;
  const other = anySupervisorStateSchema.safeParse(content);
  if (!other.success || other.data.version === controlVersion || !isAlive(other.data.pid)) return undefined;
  throw new SandflowError(
    'stack_of_other_version',
    `Another version of sandflow runs the stack of this SANDFLOW_HOME, as process ${other.data.pid}. End it with \`sandflow down\` of that version, or set SANDFLOW_HOME to another directory.`,
  );
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** A client's side of the control connection. */
import { connect, type Socket } from 'node:net';
import { SandflowError } from '../contract/sandflow-error.js';
import { readJsonFile } from '../os/private-file.js';
import {
  createNonce,
  isProof,
  onMessages,
  proofOf,
  type ServerMessage,
  type StackDescription,
  type SupervisorState,
  sendMessage,
  serverMessageSchema,
  supervisorStateSchema,
} from './control-protocol.js';

const helloTimeoutMs = 3_000;

export interface Presence {
  readonly stack: StackDescription;
  /** Resolves when the connection has ended, through `release` or because the supervisor has gone. */
  readonly lost: Promise<void>;
  /** Leaves the stack. Repeating it changes nothing. */
  release(): void;
}

interface JoinOptions {
  readonly stateFile: string;
  readonly settings: string;
  readonly onProgress: (line: string) => void;
  /** Ends the wait and leaves the stack. */
  readonly signal?: AbortSignal;
}

/**
 * The result of an attempt to join. `nobody`: no supervisor is there. `lost`: it went away before the stack was ready.
 */
type Joined = 'nobody' | 'lost' | Presence;

/**
 * Joins the supervisor that the state file names and waits until its stack is ready.
 * @throws SandflowError with the supervisor's own code if the stack cannot start; `stack_differs`
 */
export async function joinSupervisor(options: JoinOptions): Promise<Joined> {
  const { settings, onProgress, signal } = options;
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
      sendMessage(socket, { proof, settings });
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

/** True if a supervisor answers, whatever its settings are. */
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

function readyStack(
  socket: Socket,
  lost: Promise<void>,
  onProgress: (line: string) => void,
  enter: (hello: Hello) => boolean,
): Promise<StackDescription | 'nobody' | 'lost'> {
  return new Promise((resolve, reject) => {
    let accepted = false;
    // Another program may have the port of a supervisor that died. Such a program does not say hello.
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
      else reject(new SandflowError({ foreign: message.code }, message.message));
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

async function readState(stateFile: string): Promise<SupervisorState | undefined> {
  const parsed = supervisorStateSchema.safeParse(await readJsonFile(stateFile));
  return parsed.success ? parsed.data : undefined;
}

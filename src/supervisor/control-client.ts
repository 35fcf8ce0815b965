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
  try {
    const stack = await new Promise<StackDescription | 'nobody' | 'lost'>((resolve, reject) => {
      let isKnown = false;
      // The supervisor may have died, and another program may use its port. Such a program sends no hello.
      const timeout = setTimeout(leave, helloTimeoutMs);
      void lost.then(() => {
        clearTimeout(timeout);
        resolve(isKnown ? 'lost' : 'nobody');
      });
      tell(socket, state, { settings, client }, (message) => {
        isKnown = true;
        clearTimeout(timeout);
        if (message.type === 'progress') onProgress(message.line);
        else if (message.type === 'ready') resolve(message.stack);
        else if (message.type === 'failed') reject(new SandflowError({ foreign: message.code }, message.message));
      });
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

/**
 * Asks the supervisor about its stack, without joining it. Starts nothing.
 * @returns undefined if no supervisor answers
 * @throws SandflowError `stack_of_other_version`
 */
export async function askSupervisor(stateFile: string, ask: Ask): Promise<StackStatus | undefined> {
  const state = await readState(stateFile);
  if (!state) return undefined;
  const socket = connect({ host: '127.0.0.1', port: state.port });
  return new Promise((resolve) => {
    const settle = (status?: StackStatus) => {
      clearTimeout(timeout);
      socket.destroy();
      resolve(status);
    };
    const timeout = setTimeout(() => settle(), askTimeoutMs);
    socket.once('close', () => settle());
    tell(socket, state, { ask }, (message) => {
      if (message.type === 'status') settle(message.status);
    });
  });
}

/**
 * Tells the supervisor what this client wants, once it has proved that it is the one that the state file names. Leaves
 * any other program.
 * @param handle called with the hello of the supervisor, and with each message after it
 */
function tell(
  socket: Socket,
  { token }: SupervisorState,
  wish: object,
  handle: (message: ServerMessage) => void,
): void {
  const nonce = createNonce();
  let isKnown = false;
  socket.on('error', () => socket.destroy());
  socket.once('connect', () => sendMessage(socket, { nonce }));
  onMessages(socket, serverMessageSchema, (message) => {
    if (!isKnown) {
      if (message.type !== 'hello' || !isProof(message.proof, token, 'supervisor', nonce)) return void socket.destroy();
      isKnown = true;
      sendMessage(socket, { proof: proofOf(token, 'client', message.nonce), ...wish });
    }
    handle(message);
  });
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

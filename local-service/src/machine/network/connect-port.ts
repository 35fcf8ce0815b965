/**
 * Connects this process to ports inside a sandbox's network. A helper process in that network opens each connection and
 * hands it over to this process. The helper shares only the network with the sandbox: it is in no other namespace of
 * it, reads nothing that the sandbox sends, and cannot be seen from inside.
 */
import type { ChildProcess } from 'node:child_process';
import { connect, Socket } from 'node:net';
import { startProgram } from '../../../../src/os/start-program.js';
import { MachineError } from '../machine-error.js';
import { programEnvironment } from '../program.js';

/** Servers listen at either address, depending on how they resolve `localhost`. */
const addresses = ['127.0.0.1', '::1'];
/** The loopback interface answers at once, unless a server accepts no more connections. */
const connectTimeoutMs = 10_000;
/** The most connections of this service into one sandbox at the same time. */
const maxConnections = 256;

/** Connects to a port. The socket stays half open if the server ends its side. */
export type ConnectPort = (port: number) => Promise<Socket>;

export interface PortConnector {
  readonly connect: ConnectPort;
  /** Ends the helper and all connections. Safe to repeat. */
  close(): void;
}

/** A socket that is paused reads nothing before it is handed over. */
const connectorScript = `
const net = require('node:net');
const open = (id, port, [host, ...others]) => {
  const socket = net.connect({ host, port, allowHalfOpen: true, timeout: ${connectTimeoutMs} });
  socket.pause();
  socket.once('timeout', () => socket.destroy(new Error('timeout')));
  socket.once('error', () => (others.length > 0 ? open(id, port, others) : process.send({ id })));
  socket.once('connect', () => {
    socket.setTimeout(0);
    socket.removeAllListeners('error').on('error', () => undefined);
    process.send({ id }, socket);
  });
};
process.addListener('message', ({ id, port }) => open(id, port, ${JSON.stringify(addresses)}));`;

/** Connects to a port of this machine. @throws MachineError `not_listening` */
export async function connectHere(port: number): Promise<Socket> {
  for (const host of addresses) {
    const socket = await new Promise<Socket | undefined>((resolve) => {
      const opening = connect({ host, port, allowHalfOpen: true, timeout: connectTimeoutMs });
      opening.once('connect', () => resolve(opening.setTimeout(0)));
      opening.once('timeout', () => opening.destroy());
      opening.on('error', () => undefined);
      opening.once('close', () => resolve(undefined));
    });
    if (socket) return socket;
  }
  throw notListening(port);
}

/**
 * The helper starts with the first connection, and ends with this process.
 * @param enter arguments to put before a command line, so that the command runs inside the network
 */
export function createPortConnector(enter: readonly string[]): PortConnector {
  const waiting = new Map<number, (socket: Socket | undefined) => void>();
  const open = new Set<Socket>();
  let [lastId, closed] = [0, false];
  let helper: ChildProcess | undefined;

  const start = (): ChildProcess => {
    const [file = '', ...args] = [...enter, process.execPath, '-e', connectorScript];
    const child = startProgram(file, args, {
      env: programEnvironment,
      cwd: '/',
      detached: true,
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    const end = (): void => {
      if (helper === child) helper = undefined;
      for (const settle of waiting.values()) settle(undefined);
      waiting.clear();
    };
    child.once('error', end);
    child.once('exit', end);
    child.on('message', ({ id }: { readonly id: number }, socket) => {
      const settle = waiting.get(id);
      waiting.delete(id);
      const got = socket instanceof Socket ? socket : undefined;
      if (settle && !closed) settle(got);
      else got?.destroy();
    });
    child.unref();
    child.channel?.unref();
    return child;
  };

  return {
    async connect(port) {
      if (closed || waiting.size + open.size >= maxConnections) throw notListening(port);
      helper ??= start();
      const id = ++lastId;
      const opened = new Promise<Socket | undefined>((resolve) => waiting.set(id, resolve));
      // If the helper has just ended, its exit settles the promise.
      helper.send({ id, port }, () => undefined);
      const socket = await opened;
      if (!socket) throw notListening(port);
      open.add(Object.assign(socket, { allowHalfOpen: true }));
      socket.on('error', () => undefined);
      socket.once('close', () => open.delete(socket));
      return socket;
    },
    close() {
      closed = true;
      helper?.kill('SIGKILL');
      for (const socket of open) socket.destroy();
    },
  };
}

export function notListening(port: number): MachineError {
  return new MachineError('not_listening', `Nothing answers on port ${port} of the sandbox.`);
}

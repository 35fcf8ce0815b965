/** Listens on the SSH port of one sandbox. */
import { once } from 'node:events';
import { createServer } from 'node:net';
import { boundStrangers } from '../../../src/os/bound-strangers.js';
import { type ConnectionOptions, type ServedConnection, serveConnection } from './connection.js';
import type { PublicKey } from './public-key.js';
import { SshError } from './ssh-error.js';

export interface SshAddress {
  readonly host: string;
  readonly port: number;
}

/** How often the keys of open connections are checked again. */
const recheckMs = 1_000;

/** The keys that are accepted now. Asked at each login, and again while it lasts. */
export type AcceptedKeys = () => readonly PublicKey[];

export interface SandboxListener {
  readonly address: SshAddress;
  /** Replaces the accepted keys and closes the connections whose key is no longer accepted. */
  setKeys(keys: AcceptedKeys): Promise<void>;
  /** Stops listening, closes every connection and returns when the processes are gone. Safe to repeat. */
  close(): Promise<void>;
}

export interface ListenerOptions extends Omit<ConnectionOptions, 'keys' | 'onLogin'> {
  readonly host: string;
  /** Connections with a login. */
  readonly maxConnections: number;
  /** Connections without a login. Beyond them, the oldest is closed. */
  readonly maxStrangers: number;
}

/** @throws SshError `listen_failed` */
export async function listenForSandbox(firstKeys: AcceptedKeys, options: ListenerOptions): Promise<SandboxListener> {
  const { host, log } = options;
  const connections = new Set<ServedConnection>();
  let keys = firstKeys;
  const server = createServer((socket) => {
    socket.setNoDelay(true);
    const connection: ServedConnection = serveConnection(socket, {
      ...options,
      keys: () => keys(),
      onLogin() {
        strangers.admit(socket);
        const inside = [...connections].filter(({ key }) => key !== undefined).length;
        if (inside <= options.maxConnections) return true;
        log('an SSH connection was refused, because there are too many', { connections: inside - 1 });
        return false;
      },
    });
    connections.add(connection);
    void connection.ended.then(() => connections.delete(connection));
  });
  const strangers = boundStrangers(server, { most: options.maxStrangers });
  const endWhere = async (chosen: (connection: ServedConnection) => boolean): Promise<void> => {
    await Promise.all([...connections].filter(chosen).map((connection) => connection.end()));
  };

  const recheck = async (): Promise<void> => {
    if (connections.size === 0) return;
    const accepted = keys();
    await endWhere(({ key }) => key !== undefined && !accepted.some((kept) => kept.blob.equals(key.blob)));
  };

  server.listen(0, host);
  await once(server, 'listening').catch((cause) => {
    throw new SshError('listen_failed', `No port of ${host} could be opened for SSH.`, { cause });
  });
  server.on('error', () => log('the SSH server could not accept a connection'));
  const address = server.address();
  if (address === null || typeof address === 'string')
    throw new SshError('listen_failed', 'The SSH server has no port.');
  const stopped = new Promise<void>((resolve) => server.once('close', () => resolve()));

  const rechecking = setInterval(() => void recheck().catch(() => undefined), recheckMs).unref();

  return {
    address: { host, port: address.port },
    async setKeys(newKeys) {
      keys = newKeys;
      await recheck();
    },
    async close() {
      clearInterval(rechecking);
      keys = () => [];
      server.close();
      await endWhere(() => true);
      await stopped;
    },
  };
}

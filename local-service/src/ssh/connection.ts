/** One SSH connection, from its first byte until its last process has ended. */
import type { Socket } from 'node:net';
import ssh2, { type Connection } from 'ssh2';
import type { InteractiveShell, ShellSpec } from '../machine/shell/interactive-shell.js';
import { authenticate } from './authentication.js';
import type { PublicKey } from './public-key.js';
import { type ServedSession, serveSession } from './session.js';

export interface ConnectionOptions {
  readonly hostKey: string;
  readonly keys: () => readonly PublicKey[];
  readonly openShell: (spec: ShellSpec) => Promise<InteractiveShell>;
  readonly loginGraceMs: number;
  readonly maxTries: number;
  readonly maxSessions: number;
  /** Called when `key` is known. False if the connection must end. */
  readonly onLogin: () => boolean;
  readonly log: (message: string, fields?: Readonly<Record<string, unknown>>) => void;
}

export interface ServedConnection {
  /** The key with which the client logged in; undefined before that. */
  readonly key: PublicKey | undefined;
  /** Closes the connection and returns when its processes are gone. Safe to repeat. */
  end(): Promise<void>;
  /** Resolves when the socket is closed and the processes are gone. */
  readonly ended: Promise<void>;
}

/** How long a client may take to receive the last bytes. */
const goodbyeMs = 1_000;

/** Serves the connection. Forwarded ports are refused: they would lead to the loopback interface of this machine. */
export function serveConnection(socket: Socket, options: ConnectionOptions): ServedConnection {
  const sessions = new Set<ServedSession>();
  let key: PublicKey | undefined;
  let client: Connection | undefined;
  let hangsUp = false;
  const grace = setTimeout(() => hangUp(), options.loginGraceMs);

  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  const ended = closed.then(async () => {
    clearTimeout(grace);
    await Promise.all([...sessions].map((session) => session.end()));
  });
  const hangUp = (): void => {
    if (socket.closed || hangsUp) return;
    hangsUp = true;
    client?.end();
    socket.destroySoon();
    const goodbye = setTimeout(() => socket.destroy(), goodbyeMs);
    socket.once('close', () => clearTimeout(goodbye));
  };

  // Each connection has its own server, which does not listen. This is the only way to know which client belongs to
  // which socket.
  const server = new ssh2.Server({
    hostKeys: [options.hostKey],
    ident: 'sandflow',
    // Decompressed data could grow without a limit, and SHA-1 is outdated.
    algorithms: {
      compress: ['none'],
      hmac: { append: [], prepend: [], remove: ['hmac-sha1', 'hmac-sha1-etm@openssh.com'] },
    },
  });
  server.on('connection', (connected: Connection) => {
    client = connected;
    // Broken connections are normal, and the message may quote what the client sent. So nothing is logged.
    connected.on('error', hangUp);
    authenticate(connected, {
      keys: options.keys,
      maxTries: options.maxTries,
      onAccepted(accepted) {
        key = accepted;
        clearTimeout(grace);
        if (!options.onLogin()) return hangUp();
        options.log('an SSH login to a sandbox succeeded', { fingerprint: accepted.fingerprint });
      },
      onTooManyTries: hangUp,
    });
    connected.on('session', (accept, reject) => {
      if (sessions.size >= options.maxSessions) return reject();
      const session = accept();
      const served = serveSession(session, {
        socket,
        openShell: options.openShell,
        onFailure: (cause) => options.log('an SSH session failed', { code: codeOf(cause) }),
      });
      sessions.add(served);
      session.on('close', () => void served.end().then(() => sessions.delete(served)));
    });
  });
  server.injectSocket(socket);

  return {
    get key() {
      return key;
    },
    async end() {
      hangUp();
      await ended;
    },
    ended,
  };
}

/** Returns the code instead of the message, which may quote a command. */
function codeOf(cause: unknown): string {
  return cause instanceof Error && 'code' in cause && typeof cause.code === 'string' ? cause.code : 'unknown';
}

/** The SSH servers of the sandboxes. Each sandbox has its own port, since `user@host` does not identify a sandbox. */
import type { Log } from '../log.js';
import type { MachineHost } from '../machine/machine-host.js';
import { type AcceptedKeys, listenForSandbox, type SandboxListener, type SshAddress } from './sandbox-listener.js';

export interface SshServerOptions {
  /** The private host key in PEM, the same for all sandboxes; see `loadHostKey`. */
  readonly hostKey: string;
  readonly machines: Pick<MachineHost, 'openShell'>;
  /** Default `127.0.0.1`. */
  readonly host?: '127.0.0.1' | '::1';
  /** How long a client may take to prove its key, in milliseconds of real time. Default: 20,000. */
  readonly loginGraceMs?: number;
  /** The number of refused keys and methods after which a connection is closed. Default: 6. */
  readonly maxTries?: number;
  /** The most simultaneous logins of one sandbox. Further ones are closed at once. Default: 16. */
  readonly maxConnections?: number;
  /** The most connections to one sandbox that have not logged in. The oldest is closed for a new one. Default: 64. */
  readonly maxStrangers?: number;
  /** The most simultaneous sessions of one connection. Further sessions are refused. Default: 10. */
  readonly maxSessions?: number;
  /** Variables to add to those that every shell of the sandbox gets. Default: none. */
  readonly environmentOf?: (sandboxId: string) => Readonly<Record<string, string>> | undefined;
  /** Receives the fingerprint of each login, and failures; never a key, a command or its output. */
  readonly log?: Log;
}

export interface SshServer {
  /**
   * Opens the port of a sandbox, or keeps it open, and accepts only the holders of these keys. Connections whose key is
   * no longer among them are closed within seconds, and their processes are ended. Safe to repeat.
   * @throws SshError `listen_failed`
   */
  open(sandboxId: string, keys: AcceptedKeys): Promise<SshAddress>;
  /** Closes the port and its connections, and returns when their processes are gone. Safe to repeat. */
  close(sandboxId: string): Promise<void>;
  /** Calls `close` for all sandboxes. Ports can be opened again afterwards. */
  closeAll(): Promise<void>;
}

/**
 * Creates the SSH servers (specification, `sshEndpoint` and POST /sandboxes/{id}/sshkey). None listens before `open`.
 *
 * Supported: public key authentication; `shell` and `exec`; terminals, with `script` of util-linux; exit codes and
 * signals; the old form of scp (`scp -O`), if the machine has scp. Not supported: sftp, and so scp without `-O`;
 * forwarded ports, since they would reach the loopback interface of this machine; X11 and agents; changes of the window
 * size after the start.
 */
export function createSshServer(options: SshServerOptions): SshServer {
  const { host = '127.0.0.1', log = () => undefined } = options;
  const opened = new Map<string, Promise<SandboxListener>>();

  const listen = (sandboxId: string, keys: AcceptedKeys): Promise<SandboxListener> =>
    listenForSandbox(keys, {
      hostKey: options.hostKey,
      host,
      loginGraceMs: options.loginGraceMs ?? 20_000,
      maxTries: options.maxTries ?? 6,
      maxConnections: options.maxConnections ?? 16,
      maxStrangers: options.maxStrangers ?? 64,
      maxSessions: options.maxSessions ?? 10,
      openShell: (spec) =>
        options.machines.openShell(sandboxId, { ...spec, env: options.environmentOf?.(sandboxId) ?? {} }),
      log: (message, fields) => log(message, { ...fields, sandboxId }),
    });

  const close = async (sandboxId: string): Promise<void> => {
    const listening = opened.get(sandboxId);
    opened.delete(sandboxId);
    // A listener that failed to open has nothing to close; `open` reported the failure.
    const listener = await listening?.catch(() => undefined);
    await listener?.close();
  };

  return {
    async open(sandboxId, keys) {
      const existing = opened.get(sandboxId);
      if (existing) {
        const listener = await existing;
        await listener.setKeys(keys);
        return listener.address;
      }
      const listening = listen(sandboxId, keys);
      opened.set(sandboxId, listening);
      try {
        return (await listening).address;
      } catch (error) {
        if (opened.get(sandboxId) === listening) opened.delete(sandboxId);
        throw error;
      }
    },
    close,
    async closeAll() {
      await Promise.all([...opened.keys()].map(close));
    },
  };
}

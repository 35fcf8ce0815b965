/** The SSH servers of the sandboxes: a port for each, since `user@host` does not say which sandbox is meant. */
import type { Log } from '../log.js';
import type { MachineHost } from '../machine/machine-host.js';
import { isPrivateKey } from './host-key.js';
import type { PublicKey } from './public-key.js';
import { listenForSandbox, type SandboxListener, type SshAddress } from './sandbox-listener.js';
import { SshError } from './ssh-error.js';

export interface SshServerOptions {
  /** Private, in PEM: see `loadHostKey`. The same for all sandboxes. */
  readonly hostKey: string;
  readonly machines: Pick<MachineHost, 'openShell'>;
  /** Default `127.0.0.1`. */
  readonly host?: '127.0.0.1' | '::1';
  /** How long a client has to prove its key, in milliseconds of this machine's own time. Default: 20,000. */
  readonly loginGraceMs?: number;
  /** Refused keys and methods before a connection is cut. Default: 6. */
  readonly maxTries?: number;
  /** Connections of one sandbox at a time; more are cut at once. Default: 16. */
  readonly maxConnections?: number;
  /** Sessions of one connection at a time; more are refused. Default: 10. */
  readonly maxSessions?: number;
  /** Variables of a sandbox's shells, added as for commands. Default: none. */
  readonly environmentOf?: (sandboxId: string) => Readonly<Record<string, string>> | undefined;
  /** Gets who entered by which fingerprint, and what failed; never a key, a command or its output. */
  readonly log?: Log;
}

export interface SshServer {
  /**
   * Opens the port of a sandbox, or keeps it open, and accepts only the holders of these keys.
   * Safe to repeat.
   * @throws SshError `listen_failed`
   */
  open(sandboxId: string, keys: readonly PublicKey[]): Promise<SshAddress>;
  /**
   * Replaces the keys; connections that entered by one that is gone are cut, their processes ended. Does nothing for a sandbox
   * whose port is not open. Safe to repeat.
   */
  setKeys(sandboxId: string, keys: readonly PublicKey[]): Promise<void>;
  /** Where a sandbox can be reached now; undefined if its port is not open. */
  addressOf(sandboxId: string): SshAddress | undefined;
  /** Closes the port, cuts the connections and returns when their processes are gone. Safe to repeat. */
  close(sandboxId: string): Promise<void>;
  /** As `close`, for all. Ports can be opened anew afterwards. */
  closeAll(): Promise<void>;
}

/**
 * Makes the SSH servers; nothing listens before `open` (specification, `sshEndpoint` and POST /sandboxes/{id}/sshkey).
 *
 * There: public key authentication, `shell` and `exec`, terminals by `script` of util-linux, exit codes and signals, scp in its
 * old form (`scp -O`) if the machine has scp. Not there: sftp and so scp without `-O`; forwarded ports, since they would
 * reach the loopback interface of this machine; X11 and agents; a window size that changes after the start.
 *
 * @throws SshError `bad_host_key`
 */
export function createSshServer(options: SshServerOptions): SshServer {
  const { host = '127.0.0.1', log = () => undefined } = options;
  // Found out here, and not when the first client comes.
  if (!isPrivateKey(options.hostKey))
    throw new SshError('bad_host_key', 'The SSH host key is not a private key in PEM.');
  const opened = new Map<string, { readonly listener: Promise<SandboxListener>; address?: SshAddress }>();

  const listen = (sandboxId: string, keys: readonly PublicKey[]): Promise<SandboxListener> =>
    listenForSandbox(keys, {
      hostKey: options.hostKey,
      host,
      loginGraceMs: options.loginGraceMs ?? 20_000,
      maxTries: options.maxTries ?? 6,
      maxConnections: options.maxConnections ?? 16,
      maxSessions: options.maxSessions ?? 10,
      openShell: (spec) =>
        options.machines.openShell(sandboxId, { ...spec, env: options.environmentOf?.(sandboxId) ?? {} }),
      log: (message, fields) => log(message, { ...fields, sandboxId }),
    });

  const close = async (sandboxId: string): Promise<void> => {
    const entry = opened.get(sandboxId);
    opened.delete(sandboxId);
    // A listener that failed to open has nothing to close; `open` reported the failure.
    const listener = await entry?.listener.catch(() => undefined);
    await listener?.close();
  };

  return {
    async open(sandboxId, keys) {
      const existing = opened.get(sandboxId);
      if (existing) {
        const listener = await existing.listener;
        await listener.setKeys(keys);
        return listener.address;
      }
      const entry: { listener: Promise<SandboxListener>; address?: SshAddress } = { listener: listen(sandboxId, keys) };
      opened.set(sandboxId, entry);
      try {
        entry.address = (await entry.listener).address;
        return entry.address;
      } catch (error) {
        if (opened.get(sandboxId) === entry) opened.delete(sandboxId);
        throw error;
      }
    },
    async setKeys(sandboxId, keys) {
      const listener = await opened.get(sandboxId)?.listener.catch(() => undefined);
      await listener?.setKeys(keys);
    },
    addressOf: (sandboxId) => opened.get(sandboxId)?.address,
    close,
    async closeAll() {
      await Promise.all([...opened.keys()].map(close));
    },
  };
}

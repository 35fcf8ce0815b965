/** SSH servers and clients for tests: each closed after its test. */
import ssh2, { type Client, type ClientChannel, type ConnectConfig } from 'ssh2';
import { onTestFinished } from 'vitest';
import type { MachineHost } from '../../../src/machine/machine-host.js';
import { loadHostKey } from '../../../src/ssh/host-key.js';
import { type PublicKey, parsePublicKey } from '../../../src/ssh/public-key.js';
import { createSshServer, type SshServer, type SshServerOptions } from '../../../src/ssh/ssh-server.js';
import { type Isolation, machine, ownSandboxId } from '../machine/machine-fixture.js';

export interface KeyPair {
  readonly publicKey: PublicKey;
  readonly privateKey: string;
}

export function keyPair(type: 'ed25519' | 'ecdsa' | 'rsa' = 'ed25519'): KeyPair {
  const sizes = { ecdsa: 256, rsa: 2048 } as const;
  const made = type === 'ed25519' ? ed25519Pair() : ssh2.utils.generateKeyPairSync(type, { bits: sizes[type] });
  return { publicKey: parsePublicKey(made.public), privateKey: made.private };
}

/** One in 256 keys that ssh2 creates is truncated. */
export function ed25519Pair(): { readonly public: string; readonly private: string } {
  for (;;) {
    const made = ssh2.utils.generateKeyPairSync('ed25519', { comment: 'me@home' });
    if (![made.public, made.private].some((text) => (ssh2.utils.parseKey(text) as unknown) instanceof Error))
      return made;
  }
}

export interface SshUnderTest {
  readonly server: SshServer;
  readonly host: MachineHost;
  readonly directory: string;
  readonly port: number;
  readonly logged: readonly string[];
}

/** A machine with one sandbox, whose port is open for these keys. */
export async function sshUnderTest(
  isolation: Isolation,
  keys: readonly KeyPair[],
  options: Partial<SshServerOptions> = {},
): Promise<SshUnderTest> {
  const { host, directory } = await machine(isolation);
  const logged: string[] = [];
  const server = createSshServer({
    hostKey: await loadHostKey(`${directory}/ssh-host-key`),
    machines: host,
    log: (message, fields) => void logged.push(`${message} ${JSON.stringify(fields)}`),
    ...options,
  });
  onTestFinished(async () => await server.closeAll());
  const { port } = await server.open(ownSandboxId, () => keys.map(({ publicKey }) => publicKey));
  return { server, host, directory, port, logged };
}

/** Rejects if the server refuses the client. */
export async function connect(port: number, options: Partial<ConnectConfig>): Promise<Client> {
  const client = new ssh2.Client();
  onTestFinished(() => void client.destroy());
  const ready = new Promise<Client>((resolve, reject) => {
    client.once('ready', () => resolve(client));
    // A closing server causes several errors, and some tests check for them later.
    client.on('error', reject);
    client.once('close', () => reject(new Error('closed before it was ready')));
  });
  client.connect({ host: '127.0.0.1', port, username: 'user', readyTimeout: 120_000, ...options });
  return await ready;
}

export function closedOf(client: Client): Promise<void> {
  return new Promise((resolve) => client.once('close', () => resolve()));
}

export interface Outcome {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number | null;
  readonly signal: string | undefined;
}

export function exec(client: Client, command: string, pty = false): Promise<ClientChannel> {
  return new Promise((resolve, reject) => {
    const terminal = { term: 'xterm', cols: 91, rows: 33, width: 0, height: 0 };
    client.exec(command, pty ? { pty: terminal } : {}, (error, channel) => (error ? reject(error) : resolve(channel)));
  });
}

export async function outcomeOf(channel: ClientChannel): Promise<Outcome> {
  let [stdout, stderr] = ['', ''];
  channel.on('data', (chunk: Buffer) => {
    stdout += chunk.toString('latin1');
  });
  channel.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString('latin1');
  });
  return await new Promise((resolve) => {
    channel.once('close', (code: number | null, signal?: string) => resolve({ stdout, stderr, code, signal }));
  });
}

export async function run(client: Client, command: string): Promise<Outcome> {
  return await outcomeOf(await exec(client, command));
}

/** `sandflow ssh`: registers a public key with a sandbox, and starts the OpenSSH client. */
import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { homeFolder } from '../../os/home-folder.js';
import type { CommandContext } from '../command.js';
import { withService } from '../connect/with-service.js';
import { exitCodes } from '../exit-codes.js';
import { UsageError } from '../usage-error.js';
import type { SshOptions } from './options.js';

/** The private keys that OpenSSH tries, newest kind first. */
const usualKeys = ['id_ed25519', 'id_ecdsa', 'id_rsa'];

/**
 * Safe to repeat.
 * @param words more arguments of `ssh`, such as a command
 * @returns the exit code of `ssh`
 */
export async function openShell(
  sandboxId: string,
  words: readonly string[],
  { identity }: SshOptions,
  context: CommandContext,
): Promise<number> {
  const { io } = context;
  const { privateKeyFile, publicKey } = await findKey(identity, io.cwd);
  const signal = io.interrupted;
  const endpoint = await withService(context, async ({ service, reads }) => {
    const { sshEndpoint } = await service.setSshKey(sandboxId, { publicKey }, { signal });
    if (sshEndpoint != null) return sshEndpoint;
    const { sandbox } = await reads.getSandbox(sandboxId, { signal });
    return sandbox.sshEndpoint ?? sandbox.ip;
  });
  const [, host, port = '22'] = /^([\w.-]+)(?::(\d+))?$/.exec(endpoint ?? '') ?? [];
  if (host === undefined) throw new UsageError(`${sandboxId} has no address for SSH. Is it running?`);
  return run(['-i', privateKeyFile, '-o', 'IdentitiesOnly=yes', '-p', port, `user@${host}`, ...words]);
}

async function findKey(identity: string | undefined, cwd: string) {
  const files =
    identity === undefined
      ? usualKeys.map((name) => join(homeFolder(), '.ssh', name))
      : [resolve(cwd, identity.replace(/\.pub$/, ''))];
  for (const privateKeyFile of files) {
    const publicKey = await readFile(`${privateKeyFile}.pub`, 'utf8').catch(() => undefined);
    if (publicKey === undefined) continue;
    // The service must never get a private key.
    if (!/^(?:ssh|ecdsa|sk)-\S+ \S+[^\n]*\n?$/.test(publicKey)) {
      throw new UsageError(`${privateKeyFile}.pub is not a public key of OpenSSH.`);
    }
    return { privateKeyFile, publicKey: publicKey.trim() };
  }
  const where = files.map((file) => `${file}.pub`).join(', ');
  throw new UsageError(`There is no public key in ${where}. Make one: ssh-keygen -t ed25519`);
}

/** The client has the terminal, and gets Ctrl-C itself. */
function run(args: readonly string[]): Promise<number> {
  return new Promise((settle, fail) => {
    const client = spawn('ssh', args, { stdio: 'inherit' });
    client.once('error', (cause) =>
      fail(new UsageError('The program ssh cannot be started. Install OpenSSH.', { cause })),
    );
    client.once('close', (code) => settle(code ?? exitCodes.detached));
  });
}

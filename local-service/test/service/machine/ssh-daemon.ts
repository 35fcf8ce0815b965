/** An OpenSSH server on loopback, with keys of its own, that lets in this user. */
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { freePort } from '../../../../src/os/free-port.js';
import { temporaryDirectory } from './machine-fixture.js';

const program = '/usr/sbin/sshd';
export const hasSshDaemon = existsSync(program);

export interface SshDaemon {
  readonly port: number;
  readonly user: string;
  /** What makes `git` know this server, by the name `git-host`, and log in with the key that it accepts. */
  readonly env: Readonly<Record<string, string>>;
  /** The same with a key that it does not accept. */
  readonly strangerEnv: Readonly<Record<string, string>>;
}

export async function startSshDaemon(): Promise<SshDaemon> {
  const folder = await temporaryDirectory();
  const at = (name: string): string => join(folder, name);
  for (const name of ['host', 'user', 'stranger']) {
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', at(name)]);
  }
  const port = await freePort();
  const { username: user, uid } = userInfo();
  // The folder that sshd of root changes into before it knows the user.
  if (uid === 0) mkdirSync('/run/sshd', { recursive: true });
  const server = { ListenAddress: '127.0.0.1', Port: port, HostKey: at('host'), AuthorizedKeysFile: at('user.pub') };
  const plain = { PidFile: 'none', UsePAM: 'no', StrictModes: 'no', PasswordAuthentication: 'no' };
  const lines = (options: object): string =>
    Object.entries(options)
      .map(([name, value]) => `${name} ${value}\n`)
      .join('');
  writeFileSync(at('sshd_config'), lines({ ...server, ...plain, PermitRootLogin: 'prohibit-password' }));
  const hostKey = execFileSync('cut', ['-d', ' ', '-f', '1,2', at('host.pub')], { encoding: 'utf8' });
  writeFileSync(at('known_hosts'), `[127.0.0.1]:${port} ${hostKey}`);
  const client = (key: string): Readonly<Record<string, string>> => {
    const options = { UserKnownHostsFile: at('known_hosts'), IdentityFile: at(key), IdentitiesOnly: 'yes' };
    const host = { HostName: '127.0.0.1', Port: port, HostKeyAlias: `[127.0.0.1]:${port}` };
    writeFileSync(at(`${key}_config`), `Host git-host 127.0.0.1\n${lines({ ...host, ...options })}`);
    return { GIT_SSH_COMMAND: `ssh -F ${at(`${key}_config`)} -o BatchMode=yes` };
  };
  const daemon = spawn(program, ['-D', '-e', '-f', at('sshd_config')], { stdio: 'ignore' });
  onTestFinished(() => void daemon.kill());
  await expect.poll(async () => await answers(port)).toBe(true);
  return { port, user, env: client('user'), strangerEnv: client('stranger') };
}

async function answers(port: number): Promise<boolean> {
  return await new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('data', () => resolve(true));
    socket.once('error', () => resolve(false));
    socket.once('data', () => socket.destroy());
  });
}

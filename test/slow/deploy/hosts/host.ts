/**
 * A host: its own network, processes, user and file system. Of this machine it has the programs, which it can only read, and one link
 * to it, its gateway. All of it ends with the test.
 */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, chownSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { vi } from 'vitest';
import type { Ended } from '../../../e2e/cli/program.js';
import { patient } from '../../../e2e/stack/fixture.js';
import { asUser, type Contained, imageRoot, noPods, started } from '../pod.js';

/** Why no host can be made here; undefined if one can. */
export const noHosts =
  noPods ??
  (['ip', 'nsenter', 'unshare'].some((tool) => spawnSync(tool, ['-V']).error !== undefined)
    ? 'ip, nsenter and unshare are missing'
    : undefined);

/** Where each host sees its own folder. */
const home = '/srv/host';

type Settings = Readonly<Record<string, string>>;

export interface Host {
  readonly name: string;
  /** Its address, at which this machine reaches it. */
  readonly address: string;
  /** The address of this machine, the only one that it reaches. */
  readonly gateway: string;
  /** Its folder as seen from here. No other host sees it. */
  readonly folder: string;
  /** @returns where the host sees the file, which belongs to its user alone */
  write(name: string, content: string): string;
  read(name: string): string;
  /** Starts sandflow on it. */
  begin(args: readonly string[], settings?: Settings): Contained;
  /** Runs sandflow until it ends. */
  run(args: readonly string[], settings?: Settings): Promise<Ended>;
  /** Runs sandflow, which must end with 0. @returns its output */
  done(args: readonly string[], settings?: Settings): Promise<string>;
  /** Starts a part of sandflow. Resolves when it is ready. */
  serve(args: readonly string[], settings?: Settings): Promise<Contained>;
  /** Runs a script of Node on it. */
  script(code: string, args?: readonly string[], settings?: Settings): Promise<Ended>;
  /** Takes the link to this machine away, or gives it back. */
  link(state: 'up' | 'down'): void;
  close(): Promise<void>;
}

interface HostOptions {
  readonly name: string;
  /** Its user, which no other host has. */
  readonly uid: number;
  /** For its folder. */
  readonly below: string;
  readonly settings: (gateway: string) => Settings;
}

export async function createHost({ name, uid, below, settings }: HostOptions): Promise<Host> {
  const folder = join(below, name);
  for (const path of [folder, join(folder, 'tmp'), join(folder, 'state')]) {
    mkdirSync(path);
    chownSync(path, uid, uid);
    chmodSync(path, 0o700);
  }
  const network = await createNetwork();
  const { gateway } = network;
  const programs: Contained[] = [];

  const contain = (command: readonly string[], own: Settings): Contained => {
    const paths = { HOME: home, SANDFLOW_HOME: join(home, 'state'), TMPDIR: '/tmp', PATH: '/usr/bin:/bin' };
    const env = Object.entries({ ...paths, ...settings(gateway), ...own }).filter(([, value]) => value !== '');
    const program = started(
      [
        ...['--unshare-pid', '--as-pid-1', '--unshare-ipc', '--unshare-uts', '--hostname', name],
        ...[...imageRoot(), '--dir', home, '--bind', folder, home, '--bind', join(folder, 'tmp'), '/tmp'],
        ...['--remount-ro', '/', '--chdir', home, '--die-with-parent', '--clearenv'],
        ...env.flatMap((one) => ['--setenv', ...one]),
        ...[...asUser({ runAsUser: uid, runAsGroup: uid, fsGroup: uid }), '/node', ...command],
      ],
      network.enter,
    );
    programs.push(program);
    return program;
  };
  const sandflow = (args: readonly string[], own: Settings = {}) =>
    contain(['/app/dist/src/cli/main.js', ...args], own);

  return {
    name,
    ...network,
    folder,
    write(file, content) {
      const path = join(folder, file);
      writeFileSync(path, content, { mode: 0o600 });
      chownSync(path, uid, uid);
      return join(home, file);
    },
    read: (file) => readFileSync(join(folder, file), 'utf8'),
    begin: sandflow,
    run: (args, own) => sandflow(args, own).ended,
    async done(args, own) {
      const { exitCode, stdout, stderr } = await sandflow(args, own).ended;
      if (exitCode !== 0) throw new Error(`${name}: ${args.join(' ')} ended with ${exitCode}: ${stdout}${stderr}`);
      return stdout;
    },
    async serve(args, own) {
      const program = sandflow([...args, '--ready-json'], own);
      const isReady = () => {
        if (program.process.exitCode !== null) return;
        if (!program.stdout().includes('\n')) throw new Error(`${name}: ${args[0]} is not ready: ${program.stderr()}`);
      };
      await vi.waitFor(isReady, patient);
      const { exitCode } = program.process;
      if (exitCode !== null) throw new Error(`${name}: ${args[0]} ended with ${exitCode}: ${program.stderr()}`);
      return program;
    },
    script: (code, args = [], own = {}) => contain(['--input-type=module', '--eval', code, '--', ...args], own).ended,
    link: network.link,
    async close() {
      for (const program of programs) {
        if (program.process.exitCode === null) await program.kill('SIGKILL');
        await program.ended;
      }
      await network.close();
    },
  };
}

/** A network that holds nothing but one link to this machine. It ends with the process that holds it. */
async function createNetwork() {
  const holder: ChildProcess = spawn(
    'setpriv',
    ['--pdeathsig', 'KILL', 'unshare', '--net', 'sh', '-c', 'echo made; exec sleep infinity'],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const ended = once(holder, 'exit');
  await Promise.race([
    once(holder.stdout as NodeJS.ReadableStream, 'data'),
    ended.then(() => Promise.reject(new Error('There is no network.'))),
  ]);
  const enter = ['nsenter', '--target', `${holder.pid}`, '--net'];
  const ip = (...args: string[]) => execFileSync('ip', args);
  const inside = (...args: string[]) => execFileSync('nsenter', [...enter.slice(1), 'ip', ...args]);
  // 198.18.0.0/15 is for tests of networks (RFC 2544). Each network has four of its addresses.
  const number = randomInt(2 ** 15);
  const at = (offset: number) => [198, 18 + (number >> 14), (number >> 6) & 255, (number & 63) * 4 + offset].join('.');
  const [gateway, address, outer] = [at(1), at(2), `sandflow-${number.toString(36)}`];
  ip('link', 'add', outer, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', `${holder.pid}`);
  ip('address', 'add', `${gateway}/30`, 'dev', outer);
  ip('link', 'set', outer, 'up');
  inside('link', 'set', 'lo', 'up');
  inside('address', 'add', `${address}/30`, 'dev', 'eth0');
  inside('link', 'set', 'eth0', 'up');
  return {
    gateway,
    address,
    enter,
    link: (state: 'up' | 'down') => void ip('link', 'set', outer, state),
    async close() {
      ip('link', 'delete', outer);
      holder.kill('SIGKILL');
      await ended;
    },
  };
}

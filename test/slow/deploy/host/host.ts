/**
 * An empty host: its own processes, network, `/home` and `/run`, a user `sandflow` without rights, and that user's systemd. All of it
 * ends with the test.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Ended } from '../../../e2e/cli/program.js';

const user = { name: 'sandflow', id: 20_001, home: '/home/sandflow' } as const;
/** An address that counts as public. It exists in the network of the host alone. */
const address = '5.9.9.9';

/** What the host needs and this machine lacks: a test without it is skipped. */
export function missingForHost(): string[] {
  const programs = ['unshare', 'nsenter', 'setpriv', 'mount', 'ip', 'openssl', 'curl', 'nginx'];
  const missing = programs.filter(
    (program) => !['/usr/bin', '/bin', '/usr/sbin', '/sbin'].some((f) => existsSync(join(f, program))),
  );
  if (!existsSync(systemd)) missing.push('systemd');
  if (process.getuid?.() !== 0) missing.push('root');
  return missing;
}

const asUser = ['setpriv', '--reuid', `${user.id}`, '--regid', `${user.id}`, '--clear-groups'];
const systemd = '/lib/systemd/systemd';

/** Control groups of the user: systemd begins nothing without. */
function controlGroups(name: string) {
  const root = '/sys/fs/cgroup';
  const trees = existsSync(join(root, 'cgroup.procs')) ? [root] : [join(root, 'systemd'), join(root, 'unified')];
  const groups = trees.filter((tree) => existsSync(tree)).map((tree) => join(tree, name));
  for (const group of groups) {
    mkdirSync(group);
    execFileSync('chown', ['-R', `${user.id}`, group]);
  }
  return {
    join: groups.map((group) => `echo $$ > ${group}/cgroup.procs; `).join(''),
    remove: () => execFileSync('find', [...groups, '-depth', '-type', 'd', '-exec', 'rmdir', '{}', ';']),
  };
}

/** Nothing of the programs of this checkout. */
const path = [dirname(process.execPath), '/usr/local/bin', '/usr/bin', '/bin', '/usr/sbin', '/sbin'].join(':');

/** How npm reaches its registry on this machine. */
const npmSettings = {
  npm_config_registry: execFileSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' }).trim(),
  ...(process.env.NODE_EXTRA_CA_CERTS ? { NODE_EXTRA_CA_CERTS: process.env.NODE_EXTRA_CA_CERTS } : {}),
};

export interface HostCommand {
  /** What is typed into it. */
  readonly input?: string;
  /** True: it reaches the network of this machine, such as the npm registry. */
  readonly online?: boolean;
  readonly asRoot?: boolean;
  readonly env?: Readonly<Record<string, string>>;
}

export interface Host {
  /** A folder that the host sees too. */
  readonly folder: string;
  /** `/home/sandflow`, as seen from here. */
  readonly home: string;
  run(command: string, options?: HostCommand): Promise<Ended>;
  /** Starts a program as root, which runs until the host ends. */
  serve(command: string, env?: Readonly<Record<string, string>>): ChildProcess;
  /** What the services printed. */
  said(): string;
  close(): Promise<void>;
}

/** @param names host names that resolve to the address of the host */
export async function createHost(names: readonly string[]): Promise<Host> {
  const folder = mkdtempSync(join(tmpdir(), 'sandflow-host-'));
  const homes = join(folder, 'home');
  const home = join(homes, user.name);
  mkdirSync(home, { recursive: true, mode: 0o755 });
  chownSync(home, user.id, user.id);
  execFileSync('chmod', ['755', folder, homes]);
  const passwd = `${user.name}:x:${user.id}:${user.id}::${user.home}:/bin/bash\n`;
  writeFileSync(join(folder, 'passwd'), readFileSync('/etc/passwd', 'utf8') + passwd);
  writeFileSync(join(folder, 'hosts'), `127.0.0.1 localhost\n${address} ${names.join(' ')}\n`);
  const log = join(folder, 'services.log');
  writeFileSync(log, '');
  chownSync(log, user.id, user.id);
  const runtime = `/run/user/${user.id}`;
  const begin = [
    'set -e',
    `mount --bind ${homes} /home`,
    `mount --bind ${folder}/passwd /etc/passwd`,
    `mount --bind ${folder}/hosts /etc/hosts`,
    'mount -t tmpfs tmpfs /run',
    `mkdir -p /run/systemd/system ${runtime}`,
    `chown ${user.id}:${user.id} ${runtime}`,
    `chmod 700 ${runtime}`,
    'mkdir -p /run/systemd/user/service.d',
    `printf '[Service]\\nStandardOutput=append:${log}\\nStandardError=inherit\\n' > /run/systemd/user/service.d/log.conf`,
    'ip link set lo up',
    `ip address add ${address}/32 dev lo`,
    'echo 443 > /proc/sys/net/ipv4/ip_unprivileged_port_start',
    'echo begun',
    'exec sleep infinity',
  ].join('\n');
  const flags = ['--mount', '--pid', '--net', '--ipc', '--fork', '--kill-child', '--mount-proc'];
  const holder = spawn('setpriv', ['--pdeathsig', 'KILL', 'unshare', ...flags, 'bash', '-c', begin], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise<void>((resolve) => holder.once('close', () => resolve()));
  await new Promise<void>((resolve, reject) => {
    holder.stdout.once('data', () => resolve());
    void ended.then(() => reject(new Error('The host did not begin.')));
  });
  const inside = readFileSync(`/proc/${holder.pid}/task/${holder.pid}/children`, 'utf8').trim();
  const groups = controlGroups(`sandflow-host-${holder.pid}`);

  const start = (command: string, { online = false, asRoot = false, env = {} }: HostCommand): ChildProcess => {
    const network = online ? [] : ['--net'];
    const who = asRoot ? [] : asUser;
    const own = { HOME: asRoot ? '/root' : user.home, USER: asRoot ? 'root' : user.name, PATH: path };
    const enter = ['--target', inside, '--mount', '--pid', '--ipc', ...network, '--', ...who];
    return spawn('nsenter', [...enter, 'bash', '-c', `cd ~ && ${command}`], {
      env: { ...own, LANG: 'C.UTF-8', XDG_RUNTIME_DIR: runtime, ...(online ? npmSettings : {}), ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
  };
  const collect = (child: ChildProcess): (() => { stdout: string; stderr: string }) => {
    const output = { stdout: '', stderr: '' };
    child.stdout?.on('data', (chunk: Buffer) => {
      output.stdout += chunk.toString();
    });
    child.stderr?.on('data', (chunk: Buffer) => {
      output.stderr += chunk.toString();
    });
    return () => output;
  };

  const manager = start(
    `${groups.join}exec ${asUser.join(' ')} env HOME=${user.home} USER=${user.name} ${systemd} --user`,
    { asRoot: true },
  );
  const run: Host['run'] = (command, options = {}) => {
    const child = start(command, options);
    const output = collect(child);
    // A command may end without reading it.
    child.stdin?.on('error', () => undefined).end(options.input ?? '');
    return new Promise((resolve) => child.once('close', (exitCode) => resolve({ exitCode, ...output() })));
  };
  const host: Host = {
    folder,
    home,
    run,
    serve: (command, env = {}) => start(command, { asRoot: true, env }),
    said: () => readFileSync(log, 'utf8'),
    async close() {
      // Everything in its namespace of processes ends with the first of them.
      holder.kill('SIGKILL');
      await ended;
      groups.remove();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  const isUp = () => run('systemctl --user is-system-running --wait');
  for (let end = await isUp(); end.exitCode !== 0; end = await isUp()) {
    if (manager.exitCode !== null) throw new Error(`systemd ended: ${host.said()}`);
  }
  return host;
}

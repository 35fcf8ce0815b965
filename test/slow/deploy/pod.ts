/**
 * Runs a container of a manifest as a process of this machine, with the user, groups, secrets, volumes and file system
 * that Kubernetes would give it. Not imitated: seccomp, limits of memory and CPU, the process table, and the network.
 */
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { json } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { freePort } from '../../../src/os/free-port.js';
import type { Ended, Started } from '../../e2e/cli/program.js';
import { signalIfAlive } from '../../setup/stack-harness.js';
import type { Part, PodSpec } from '../../unit/deploy/manifests.js';
import { readSource, repository } from '../../unit/house/source-imports.js';
import { type PodVolume, type SecretFiles, secretVolume } from './volumes.js';

/** Why no pod can be imitated here; undefined if one can. */
export const noPods =
  process.getuid?.() !== 0
    ? 'only root may become another user'
    : ['bwrap', 'setpriv'].some((tool) => spawnSync(tool, ['--version']).status !== 0)
      ? 'bubblewrap and setpriv are missing'
      : undefined;

const dockerfile = readSource('Dockerfile');
const workingFolder = [...dockerfile.matchAll(/^WORKDIR (.+)$/gm)].at(-1)?.[1] ?? '/';
/** The `ENV` of our image. */
const imageEnv = Object.fromEntries(
  [...dockerfile.matchAll(/^ENV (.+)$/gm)].flatMap(([, line = '']) =>
    line.split(' ').map((one) => one.split('=', 2) as [string, string]),
  ),
);

type Security = PodSpec['securityContext'];

export interface PodOptions {
  /** The files of each Secret, by its name. */
  readonly secrets: Readonly<Record<string, SecretFiles>>;
  /** The folder of each PersistentVolumeClaim, by its name. */
  readonly claims: Readonly<Record<string, string>>;
  /** Replaces settings of the manifest, as an overlay does. */
  readonly settings: Readonly<Record<string, string>>;
  /** Replaces the user of the manifest, as OpenShift does. */
  readonly security?: Security;
  /** The container runtimes set it to `/` for a user without an entry, or not at all. Default: not at all. */
  readonly homeVariable?: string;
  /** For the files of its volumes. */
  readonly folder: string;
}

export interface Pod extends Contained {
  /** The address of a port, by its name in the manifest. */
  readonly urlOf: (port: string) => string;
  /** Sends the request of a probe. Undefined if nobody answers. */
  probe(kind: 'startupProbe' | 'livenessProbe' | 'readinessProbe'): Promise<number | undefined>;
  /** Runs sandflow in the pod, as `kubectl exec` does. */
  exec(args: readonly string[]): Promise<Ended>;
  /** Replaces a file of a Secret, as the kubelet does after a change. */
  changeSecret(file: string, content: string): void;
  /** Ends the pod as Kubernetes does: its exit code is 137 if it has not ended within its grace period. */
  terminate(): Promise<Ended>;
}

/** Root owns a mounted volume, and commands refuse a home that is not theirs. They need none here. */
const ofCommands = { SANDFLOW_HOME: '/none' };

let pods = 0;

export async function startPod({ container, pod, env: settings }: Part, options: PodOptions): Promise<Pod> {
  const { security = pod.securityContext, homeVariable } = options;
  pods += 1;
  const folder = join(options.folder, `pod-${pods}`);
  mkdirSync(folder);
  const volumes = new Map<string, PodVolume>();
  for (const { name, projected, persistentVolumeClaim: claim } of pod.volumes) {
    if (claim) volumes.set(name, { path: options.claims[claim.claimName] ?? '' });
    if (!projected) continue;
    const files = projected.sources.map(({ secret }) => options.secrets[secret.name]);
    const owned = { group: security.fsGroup, mode: projected.defaultMode };
    volumes.set(name, secretVolume(join(folder, name), Object.assign({}, ...files), owned));
  }
  const ofImage = { ...imageEnv, PATH: '/usr/bin:/bin', ...(homeVariable && { HOME: homeVariable }) };
  const inside = (args: readonly string[], own: Readonly<Record<string, string>> = {}) => [
    ...imageRoot(),
    ...container.volumeMounts.flatMap(({ name, mountPath, readOnly }) => [
      ...[readOnly ? '--ro-bind' : '--bind', volumes.get(name)?.path ?? '', mountPath],
    ]),
    ...['--remount-ro', '/', '--chdir', workingFolder, '--die-with-parent', '--clearenv'],
    ...Object.entries({ ...ofImage, ...settings, ...options.settings, ...own }).flatMap((one) => ['--setenv', ...one]),
    ...asUser(security),
    ...['/node', '/app/dist/src/cli/main.js', ...args],
  ];
  // Pods have addresses of their own. Here they share one, so their ports differ.
  const ports = new Map<string, number>();
  for (const { containerPort } of container.ports) ports.set(`${containerPort}`, await freePort());
  const ownPorts = (word: string) =>
    word.replace('0.0.0.0', '127.0.0.1').replace(/\d+$/, (end) => `${ports.get(end) ?? end}`);
  const main = started(inside(container.args.map(ownPorts)));
  const urlOf = (name: string) =>
    `http://127.0.0.1:${ports.get(`${container.ports.find((one) => one.name === name)?.containerPort}`)}`;

  const probe: Pod['probe'] = async (kind) => {
    const { path, port } = container[kind].httpGet;
    const answer = await fetch(urlOf(port) + path, { headers: { connection: 'close' } }).catch(() => undefined);
    await answer?.arrayBuffer();
    return answer?.status;
  };
  while ((await probe('readinessProbe')) !== 200) {
    const { exitCode } = main.process;
    if (exitCode !== null) throw new Error(`The ${container.name} ended with ${exitCode}: ${main.stderr()}`);
    await setTimeout(50);
  }
  return {
    ...main,
    urlOf,
    probe,
    exec: (args) => started(inside(args, ofCommands)).ended,
    changeSecret: (file, content) => volumes.get('secrets')?.write?.(file, content),
    async terminate() {
      const isOver = new AbortController();
      const patience = setTimeout(1_000 * pod.terminationGracePeriodSeconds, undefined, { signal: isOver.signal });
      patience.then(
        () => main.kill('SIGKILL'),
        () => undefined,
      );
      await main.kill('SIGTERM');
      const ended = await main.ended;
      isOver.abort();
      return ended;
    },
  };
}

/** The file system of our image, from what this machine has of it. */
export function imageRoot(): string[] {
  const system = ['/usr', '/bin', '/lib', '/lib64', '/etc/ssl', '/etc/resolv.conf', '/etc/hosts', '/etc/nsswitch.conf'];
  const ours = ['package.json', 'node_modules', 'dist'];
  return [
    ...['--tmpfs', '/', '--proc', '/proc', '--dev', '/dev'],
    // Otherwise only root could enter what a mount creates on its way.
    ...['/etc', '/app', '/run/secrets', '/tmp', '/var/lib', workingFolder].flatMap((path) => ['--dir', path]),
    // There it belongs to another user.
    ...['--perms', '0700', '--dir', '/var/lib/sandflow'],
    ...system.flatMap((path) => ['--ro-bind-try', path, path]),
    ...['--ro-bind', process.execPath, '/node'],
    ...ours.flatMap((path) => ['--ro-bind', join(repository, path), `/app/${path}`]),
  ];
}

export const asUser = ({ runAsUser, runAsGroup, fsGroup }: Security) => [
  ...['setpriv', `--reuid=${runAsUser}`, `--regid=${runAsGroup}`, `--groups=${fsGroup}`],
  ...['--inh-caps=-all', '--bounding-set=-all', '--no-new-privs'],
];

export interface Contained extends Started {
  /** Signals sandflow itself: `bwrap` stays as its parent, and ends with its exit code. Does nothing after its end. */
  readonly kill: (signal: NodeJS.Signals) => Promise<void>;
}

/** @param enter what is run first to enter another network than that of this machine */
export function started(args: readonly string[], enter: readonly string[] = []): Contained {
  const [program = '', ...command] = [...enter, 'bwrap', '--info-fd', '3', ...args];
  const child = spawn(program, command, { stdio: ['ignore', 'pipe', 'pipe', 'pipe'] });
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.on('data', (piece: Buffer) => {
      output[name] += piece.toString();
    });
  }
  const pid = json(child.stdio[3] as Readable).then((info) => (info as { 'child-pid': number })['child-pid']);
  const ended = new Promise<Ended>((resolve) => child.once('close', (exitCode) => resolve({ exitCode, ...output })));
  const kill = async (signal: NodeJS.Signals) => signalIfAlive(await pid, signal);
  return { process: child, stdout: () => output.stdout, stderr: () => output.stderr, ended, kill };
}

/**
 * Opens a network for all commands of one sandbox. One process holds a network namespace open; slirp4netns forwards the
 * traffic that leaves it. Both end with this process, even if it is killed, because each waits for the end of a pipe
 * that the kernel then closes.
 */
import type { ChildProcess } from 'node:child_process';
import type { Readable } from 'node:stream';
import { startProgram, systemReason } from '../../../../src/os/start-program.js';
import { MachineError } from '../machine-error.js';
import { programEnvironment, runProgram } from '../program.js';
import { openAllowedPorts } from './allowed-ports.js';
import { type ConnectPort, createPortConnector } from './connect-port.js';
import type { HostPort } from './network-setting.js';
import { internetRoutes, loopbackOnly, ownNetworkRoutes, readOwnNetworks, tapDevice } from './routes.js';

const startTimeoutMs = 20_000;

/** Absolute paths. */
export interface NetworkTools {
  readonly unshare: string;
  readonly nsenter: string;
  readonly ip: string;
  /** If undefined, the network leads nowhere. */
  readonly slirp4netns?: string;
}

interface NamespaceOptions {
  readonly tools: NetworkTools;
  readonly allowHost: readonly HostPort[];
  readonly allowNetworks: readonly string[];
}

export interface NetworkNamespace {
  /** Arguments to put before a command line, so that the command runs inside the network. */
  readonly enter: readonly string[];
  /** Connects this process to a port inside. @throws MachineError `not_listening` */
  readonly connect: ConnectPort;
  /** True once the network can no longer be used. */
  isBroken(): boolean;
  /** Calls `onEnd` once when the network breaks, or at once if it is already broken; never if `close` came first. */
  onBroken(onEnd: () => void): void;
  /** Closes the routes to addresses that this machine has had only since the network was opened. Safe to repeat. */
  closeOwnNetworks(ownNetworks: readonly string[]): Promise<void>;
  /** Safe to repeat. */
  close(): void;
}

/** @throws MachineError `network_unavailable` with the reason */
export async function openNamespace({ tools, allowHost, allowNetworks }: NamespaceOptions): Promise<NetworkNamespace> {
  const children: ChildProcess[] = [];
  let [closePorts, closeConnector]: (() => void)[] = [];
  let closed = false;
  const close = (): void => {
    closed = true;
    closePorts?.();
    closeConnector?.();
    for (const child of children.toReversed()) child.kill('SIGKILL');
  };
  const isRoot = process.getuid?.() === 0;
  try {
    const hold = ['/bin/sh', '-c', 'echo held; exec cat >/dev/null'];
    const holder = start(tools.unshare, [...(isRoot ? [] : ['--user', '--map-root-user']), '--net', ...hold], 0);
    children.push(holder);
    await firstWord(holder, 1, 'a network namespace');
    const place = `/proc/${holder.pid}/ns`;
    // Inside, this user is root. It may not change to another user, so its credentials are kept.
    const user = isRoot ? [] : [`--user=${place}/user`, '--preserve-credentials'];
    const enter = [tools.nsenter, ...user, `--net=${place}/net`, '--'];
    if (tools.slirp4netns) {
      const flags = ['--configure', '--mtu=65520', '--disable-host-loopback', '--ready-fd=3', '--exit-fd=4'];
      const slirp = start(tools.slirp4netns, [...flags, '--enable-sandbox', String(holder.pid), tapDevice], 4);
      children.push(slirp);
      await firstWord(slirp, 3, 'slirp4netns');
    }
    const routes = tools.slirp4netns ? internetRoutes(allowNetworks, readOwnNetworks()) : loopbackOnly;
    await changeRoutes([...enter, tools.ip], routes);
    if (allowHost.length > 0) closePorts = await openAllowedPorts(enter, allowHost);
    const isBroken = (): boolean =>
      children.some(({ exitCode, signalCode }) => exitCode !== null || signalCode !== null);
    const connector = createPortConnector(enter);
    closeConnector = connector.close;
    return {
      enter,
      connect: connector.connect,
      isBroken,
      onBroken(onEnd) {
        let reported = closed;
        const endOnce = (): void => {
          if (!reported && !closed) onEnd();
          reported = true;
        };
        if (isBroken()) return endOnce();
        for (const child of children) child.once('exit', endOnce);
      },
      closeOwnNetworks: async (own) =>
        tools.slirp4netns ? await changeRoutes([...enter, tools.ip], ownNetworkRoutes(own)) : undefined,
      close,
    };
  } catch (error) {
    close();
    throw error;
  }
}

/** @param leash the descriptor of the pipe that keeps the child alive as long as this process holds the other end */
function start(file: string, args: readonly string[], leash: 0 | 4): ChildProcess {
  const child = startProgram(file, args, {
    env: programEnvironment,
    cwd: '/',
    // Ctrl-C must not end the child: commands that are just ending may still need their network.
    detached: true,
    stdio: leash === 0 ? ['pipe', 'pipe', 'pipe'] : ['ignore', 'ignore', 'pipe', 'pipe', 'pipe'],
  });
  for (const stream of child.stdio) stream?.on('error', () => undefined);
  child.unref();
  return child;
}

/** Waits until the child is ready. The child shows this by writing to a descriptor. */
async function firstWord(child: ChildProcess, descriptor: 1 | 3, name: string): Promise<void> {
  let complaint = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    complaint = `${complaint}${chunk}`.slice(0, 1_000);
  });
  const said = await new Promise<boolean | Error>((resolve) => {
    const timer = setTimeout(() => resolve(false), startTimeoutMs);
    const settle = (value: boolean | Error): void => {
      clearTimeout(timer);
      resolve(value);
    };
    (child.stdio[descriptor] as Readable).once('data', () => settle(true));
    child.once('close', () => settle(false));
    child.once('error', settle);
  });
  if (said === true) return;
  const reason = said instanceof Error ? systemReason(said) : complaint.trim().split('\n').slice(-2).join(', ');
  throw new MachineError('network_unavailable', `${name} does not start: ${reason || 'it printed no reason'}`);
}

async function changeRoutes(ip: readonly string[], lines: readonly string[]): Promise<void> {
  const [file = '', ...args] = ip;
  const { exitCode, stderr } = await runProgram(file, [...args, '-batch', '-'], {
    input: lines.map((line) => `${line}\n`).join(''),
    timeoutMs: startTimeoutMs,
  });
  if (exitCode !== 0) {
    throw new MachineError('network_unavailable', `ip cannot set the routes: ${stderr.trim().split('\n')[0]}`);
  }
}

/**
 * Makes single ports of this machine reachable from a sandbox's network: this process listens inside and connects
 * outside. A helper process enters the network, opens the ports there, hands them over to this process and ends.
 */
import { once } from 'node:events';
import { connect, Server, type Socket } from 'node:net';
import { startProgram } from '../../../../src/os/start-program.js';
import { MachineError } from '../machine-error.js';
import { programEnvironment } from '../program.js';
import type { HostPort } from './network-setting.js';

/** The most connections of one sandbox at the same time. Each takes two descriptors of the service. */
const maxConnections = 128;

const allowedPortsScript = `
const net = require('node:net');
process.once('message', (ports) => {
  for (const port of ports) {
    const server = net.createServer();
    server.listen(port, '127.0.0.1', () => process.send(port, server));
  }
});`;

/**
 * @param enter arguments to put before a command line, so that the command runs inside the network
 * @returns a function that closes the ports and all their connections
 * @throws MachineError `network_unavailable`
 */
export async function openAllowedPorts(enter: readonly string[], allowed: readonly HostPort[]): Promise<() => void> {
  const open = new Set<Server | Socket>();
  const close = (): void => {
    for (const one of open) {
      if (one instanceof Server) one.close();
      else one.destroy();
    }
  };
  try {
    for (const { host, port, server } of await listenInside(enter, allowed)) {
      open.add(server);
      server.on('connection', (inner) => {
        // `open` holds the servers, and two sockets for each connection.
        if (open.size >= allowed.length + 2 * maxConnections) return inner.destroy();
        forward(inner, connect({ host, port, allowHalfOpen: true }), open);
      });
    }
    return close;
  } catch (cause) {
    close();
    throw new MachineError('network_unavailable', 'The ports of `allowHost` could not be opened.', { cause });
  }
}

async function listenInside(enter: readonly string[], allowed: readonly HostPort[]) {
  const [file = '', ...args] = [...enter, process.execPath, '-e', allowedPortsScript];
  const child = startProgram(file, args, {
    env: programEnvironment,
    cwd: '/',
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  const ended = once(child, 'exit').then(() => {
    throw new Error('the process that opens them exited');
  });
  // `ended` only matters while this function waits for ports. Later, its rejection must not count as unhandled.
  ended.catch(() => undefined);
  try {
    child.on('error', () => undefined);
    child.send(allowed.map(({ port }) => port));
    const opened: (HostPort & { readonly server: Server })[] = [];
    const got = new Promise<void>((resolve) => {
      child.on('message', (port, server) => {
        const place = allowed.find((one) => one.port === port);
        if (place === undefined || !(server instanceof Server)) return;
        opened.push({ ...place, server: Object.assign(server, { allowHalfOpen: true }) });
        if (opened.length === allowed.length) resolve();
      });
    });
    await Promise.race([got, ended]);
    return opened;
  } finally {
    child.kill('SIGKILL');
  }
}

function forward(inner: Socket, outer: Socket, open: Set<Server | Socket>): void {
  for (const [one, other] of [
    [inner, outer],
    [outer, inner],
  ] as const) {
    open.add(one);
    one.on('error', () => other.destroy());
    one.once('close', () => {
      open.delete(one);
      other.destroy();
    });
    one.pipe(other);
  }
}

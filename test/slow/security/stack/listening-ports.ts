/** The TCP ports on which processes of this machine listen. Linux only. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

const listeningState = '0A';

export interface ListeningPort {
  readonly pid: number;
  /** `127.0.0.1`; IPv6 addresses as the kernel writes them. */
  readonly host: string;
  readonly port: number;
}

export function listeningPorts(pids: readonly number[]): ListeningPort[] {
  const listeners = new Map([...socketsOf('/proc/net/tcp'), ...socketsOf('/proc/net/tcp6')]);
  return pids.flatMap((pid) =>
    socketInodes(pid).flatMap((inode) => {
      const found = listeners.get(inode);
      return found ? [{ pid, ...found }] : [];
    }),
  );
}

function socketsOf(table: string): [string, { host: string; port: number }][] {
  const rows = readFileSync(table, 'utf8').trim().split('\n').slice(1);
  return rows.flatMap((row) => {
    const [, local = '', , state, , , , , , inode = ''] = row.trim().split(/\s+/);
    const [address = '', port = ''] = local.split(':');
    return state === listeningState ? [[inode, { host: readable(address), port: Number.parseInt(port, 16) }]] : [];
  });
}

/** The kernel writes the four bytes of an address from the last to the first. */
function readable(address: string): string {
  if (address.length !== 8) return address;
  const bytes = [6, 4, 2, 0].map((at) => Number.parseInt(address.slice(at, at + 2), 16));
  return bytes.join('.');
}

function socketInodes(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).flatMap((descriptor) => {
      try {
        return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${descriptor}`))?.[1] ?? [];
      } catch {
        return [];
      }
    });
  } catch {
    return [];
  }
}

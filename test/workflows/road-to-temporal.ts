import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { inject } from 'vitest';

/**
 * A connection to the run's Temporal server that can be closed and opened. While it is closed, it ends each connection
 * at once, and keeps its port, which another program would take otherwise.
 */
export interface Road {
  readonly address: string;
  /** Number of connections that were ended at once. */
  refused(): number;
  open(): void;
  shut(): void;
  close(): Promise<void>;
}

export async function createRoad(): Promise<Road> {
  const [host = '', serverPort] = inject('temporalAddress').split(':');
  const sockets = new Set<Socket>();
  let isOpen = true;
  let refused = 0;
  const server = createServer((near) => {
    if (!isOpen) {
      refused += 1;
      near.resetAndDestroy();
      return;
    }
    const far = connect(Number(serverPort), host);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.on('error', () => to.destroy()).on('close', () => to.destroy());
      from.pipe(to);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const shut = () => {
    isOpen = false;
    for (const socket of sockets) socket.destroy();
    sockets.clear();
  };
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    refused: () => refused,
    open() {
      isOpen = true;
    },
    shut,
    async close() {
      shut();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

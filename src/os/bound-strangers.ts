/**
 * Bounds the connections of those who have not shown who they are. A server that instead refuses the newest one, or
 * takes all of them, is shut for its owner by whoever opens connections and says nothing. Sixteen idle connections kept
 * the owner of a local sandbox from logging in by SSH.
 */
import type { Server, Socket } from 'node:net';

export type Strangers = Readonly<ReturnType<typeof boundStrangers>>;

/**
 * Closes a connection when more than `most` are open without a login: the one whose last request is the oldest, where a
 * connection without the whole head of a request is as old as itself. If a peer has more than half of them, it is one
 * of this peer.
 * @param server any server; of an HTTP server it counts requests too
 */
export function boundStrangers(server: Server, { most }: { readonly most: number }) {
  const open = new Set<Socket>();
  const met = new WeakSet<Socket>();
  server.on('connection', (socket: Socket) => {
    // A server may be given a connection once more, to read its request in another way.
    if (met.has(socket)) return;
    met.add(socket);
    open.add(socket);
    socket.once('close', () => open.delete(socket));
    const leaving = open.size > most ? firstToLeave(open) : undefined;
    if (leaving) open.delete(leaving.destroy());
  });
  server.on('request', ({ socket }: { readonly socket: Socket }) => {
    if (open.delete(socket)) open.add(socket);
  });
  return {
    /** The connections without a login, the one that asked last at the end. */
    open: open as ReadonlySet<Socket>,
    /** Call it after a login. From then on the connection does not count, and is never closed for others. Safe to repeat. */
    admit: (socket: Socket) => void open.delete(socket),
  };
}

function firstToLeave(open: ReadonlySet<Socket>): Socket | undefined {
  const peers = new Map<string | undefined, Socket[]>();
  for (const socket of open) {
    const ofPeer = peers.get(socket.remoteAddress);
    if (ofPeer) ofPeer.push(socket);
    else peers.set(socket.remoteAddress, [socket]);
  }
  const ofLargest = [...peers.values()].find(({ length }) => length > open.size / 2);
  return (ofLargest ?? [...open])[0];
}

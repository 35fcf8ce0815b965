/** Free ports that a test cannot hold: any other program of the machine may take one at any moment. */
import type { Server } from 'node:net';

const rounds = 10;

/**
 * Plays a round that needs a port to stay free. If it did not stay free, the round is played again, with another port.
 * @param play resolves false if the port seems to be taken
 */
export async function unlessTaken(play: (round: number) => Promise<boolean>): Promise<void> {
  for (let round = 1; round <= rounds; round += 1) if (await play(round)) return;
  throw new Error(`The port was free for none of ${rounds} rounds. So the port is not what is wrong.`);
}

/** @returns false if another program has taken the port */
export function listensOn(server: Server, port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const fail = (error: NodeJS.ErrnoException) => (error.code === 'EADDRINUSE' ? resolve(false) : reject(error));
    server.once('error', fail).listen(port, '127.0.0.1', () => resolve(true));
  });
}

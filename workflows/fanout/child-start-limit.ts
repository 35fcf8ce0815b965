/** Holds starts of children back until one answer to Temporal has room for them: it takes 4 MiB, inputs included. */
import { condition } from '@temporalio/workflow';
import { payloadBytes } from '../../src/contract/texts.js';

/** What the inputs of children may take together that Temporal has not confirmed, in bytes. */
const roomBytes = 1_500_000;

export class ChildStartLimit {
  private takenBytes = 0;

  /**
   * Starts a child when there is room for its input; a single one always has room.
   * @throws what `start` throws, and the cancel of the scope that waits
   */
  async within<T>(input: unknown, start: () => Promise<T>): Promise<T> {
    const bytes = payloadBytes(input);
    const fits = () => this.takenBytes === 0 || this.takenBytes + bytes <= roomBytes;
    // Several that wait are woken together, and the first of them takes the room.
    while (!fits()) await condition(fits);
    this.takenBytes += bytes;
    try {
      return await start();
    } finally {
      this.takenBytes -= bytes;
    }
  }
}

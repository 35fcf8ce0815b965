/**
 * Limits how many starts of child workflows one workflow task contains. The response to a task may have at most 4 MiB,
 * including the inputs of the children. A chunk whose hundred items took more never started any, and its batch had no
 * end.
 */
import { condition } from '@temporalio/workflow';
import { payloadBytes } from '../../src/texts/length.js';

/** Largest total size of the inputs of unconfirmed children, in bytes. */
const roomBytes = 1_500_000;

export class ChildStartLimit {
  private takenBytes = 0;

  /**
   * Starts a child once its input fits. A single child always fits.
   * @throws what `start` throws, or the cancellation of the waiting scope
   */
  async within<T>(input: unknown, start: () => Promise<T>): Promise<T> {
    const bytes = payloadBytes(input);
    const fits = () => this.takenBytes === 0 || this.takenBytes + bytes <= roomBytes;
    // All waiting calls wake together, and the first one uses the free space.
    while (!fits()) await condition(fits);
    this.takenBytes += bytes;
    try {
      return await start();
    } finally {
      this.takenBytes -= bytes;
    }
  }
}

/**
 * Copies snapshots to disks in the background. Until a copy has ended, its snapshot stands for the disk: it is read in
 * place of the disk, and whatever could change the disk waits.
 */
import { aborted } from '../../../../src/os/aborted.js';
import { withAnySignal } from '../../../../src/os/any-signal.js';
import { isFolder } from '../../../../src/os/make-folders.js';
import { endedMeanwhile } from '../machine-error.js';
import { replaceByCopy } from './copy-tree.js';

export interface Restore {
  /**
   * True once the disk is complete; false if the copy was ended before.
   * @throws MachineError `copy_failed`
   */
  readonly ended: Promise<boolean>;
}

interface Copy extends Restore {
  readonly snapshot: string;
  readonly cancel: AbortController;
  /** Ends what waits for the copy, and not the copy. */
  refusal: AbortController;
}

/** Disks and snapshots are given by their directories. */
export function createRestores(unfinished: string) {
  /** By disk. */
  const copies = new Map<string, Copy>();
  /** What reads a snapshot now. */
  const uses = new Map<string, Set<Promise<unknown>>>();

  const use = (snapshot: string, work: Promise<unknown>): void => {
    const all = uses.get(snapshot) ?? new Set();
    uses.set(snapshot, all.add(work));
    const forget = (): void => {
      all.delete(work);
      if (all.size === 0 && uses.get(snapshot) === all) uses.delete(snapshot);
    };
    work.then(forget, forget);
  };

  async function copy(snapshot: string, disk: string, signal: AbortSignal): Promise<boolean> {
    // An earlier copy may have ended meanwhile, and the disk may have changed since.
    if (await isFolder(disk)) return true;
    try {
      await replaceByCopy(snapshot, disk, unfinished, { signal });
      return true;
    } catch (cause) {
      if (signal.aborted) return false;
      throw cause;
    }
  }

  function begin(snapshot: string, disk: string): Restore {
    const running = copies.get(disk);
    if (running) return running;
    const cancel = new AbortController();
    const ended = copy(snapshot, disk, cancel.signal).finally(() => copies.delete(disk));
    const begun = { snapshot, cancel, refusal: new AbortController(), ended };
    copies.set(disk, begun);
    use(snapshot, ended);
    return begun;
  }

  const chosen = (disk: string | undefined): Copy[] =>
    [...copies].flatMap(([path, one]) => (disk === undefined || path === disk ? [one] : []));

  const refuseWaiting = (disk?: string): void => {
    for (const one of chosen(disk)) {
      one.refusal.abort();
      one.refusal = new AbortController();
    }
  };

  return {
    running: (disk: string): Restore | undefined => copies.get(disk),
    /** Begins a copy, unless one runs. Does nothing if the disk exists. */
    begin,
    /** Ends the copy of a disk, or all copies, and what waits for them. A disk that was not complete does not exist. */
    async end(disk?: string): Promise<void> {
      refuseWaiting(disk);
      const ending = chosen(disk);
      for (const { cancel } of ending) cancel.abort();
      await Promise.allSettled(ending.map(({ ended }) => ended));
    },
    refuseWaiting,
    /**
     * Waits until no copy to the disk runs, or until the signal aborts.
     * @throws MachineError `ended` if that is refused meanwhile, `copy_failed`
     */
    async wait(disk: string, signal?: AbortSignal): Promise<void> {
      for (let one = copies.get(disk); one && !signal?.aborted; one = copies.get(disk)) {
        const refused = one.refusal.signal;
        const { ended } = one;
        await withAnySignal(signal ? [refused, signal] : [refused], (over) => Promise.race([ended, aborted(over)]));
        if (refused.aborted) throw endedMeanwhile();
      }
    },
    /** Reads the snapshot that stands for the disk, which is kept meanwhile. Undefined if no copy runs. */
    reading<Result>(disk: string, read: (snapshot: string) => Promise<Result>): Promise<Result> | undefined {
      const one = copies.get(disk);
      if (one === undefined) return undefined;
      const result = read(one.snapshot);
      use(one.snapshot, result);
      return result;
    },
    /** Waits until nothing copies or reads the snapshot. */
    async unused(snapshot: string): Promise<void> {
      for (let all = uses.get(snapshot); all; all = uses.get(snapshot)) await Promise.allSettled(all);
    },
  };
}

/** Copies things into a bucket one by one, so that one which cannot be read does not end the copy. */
import { SandflowError } from '../errors/sandflow-error.js';

export interface Copied {
  readonly copied: number;
  /** How many the bucket has already. */
  readonly there: number;
  /** Those that could not be read, or that no bucket can have. */
  readonly failed: readonly { readonly name: string; readonly error: unknown }[];
}

/** How many are copied at once. Each takes up to two parts of memory. */
const lanes = 4;
const ofBucket: ReadonlySet<string> = new Set(['store_refused', 'store_unreachable', 'disk_full']);

/**
 * @param copy returns false for what is there already
 * @param signal ends the copy
 * @throws the first error of a bucket: it would fail for the others too
 */
export async function copyEach<T>(
  all: readonly T[],
  copy: (one: T) => Promise<boolean>,
  { nameOf, signal }: { readonly nameOf: (one: T) => string; readonly signal?: AbortSignal | undefined },
): Promise<Copied> {
  const failed: { readonly name: string; readonly error: unknown }[] = [];
  let copied = 0;
  const left = all.values();
  let isOver = false;
  async function copySome(): Promise<void> {
    for (const one of left) {
      if (isOver) return;
      signal?.throwIfAborted();
      try {
        if (await copy(one)) copied += 1;
      } catch (error) {
        signal?.throwIfAborted();
        if (error instanceof SandflowError && ofBucket.has(error.code)) {
          isOver = true;
          throw error;
        }
        failed.push({ name: nameOf(one), error });
      }
    }
  }
  await Promise.all(Array.from({ length: lanes }, copySome));
  return { copied, there: all.length - copied - failed.length, failed };
}

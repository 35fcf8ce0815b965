/**
 * Keeps the checked items of a batch on this disk until they are sent. So a file, stdin or a pipe is read once, nothing
 * that changes it meanwhile is sent unchecked, and the number of items is not limited by memory.
 */
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pipeline } from 'node:stream/promises';
import type { ItemWish } from '../../fanout/index.js';
import { untilAborted } from '../../os/aborted.js';

/**
 * Reads all items once.
 * @returns a function that reads them in order, as often as it is called, and one that removes them from the disk
 * @param options `check`: throws for an item that cannot be sent. `signal`: ends the reading
 * @throws what `check` and the items throw, and the reason of the signal; nothing is left on the disk then
 */
export async function checkItems(
  items: AsyncIterable<ItemWish>,
  { check, signal }: { readonly check: (item: ItemWish) => Promise<void>; readonly signal: AbortSignal },
) {
  const folder = await mkdtemp(join(tmpdir(), 'sandflow-items-'));
  const close = () => rm(folder, { recursive: true, force: true });
  try {
    const path = join(folder, 'items.jsonl');
    // A reader of stdin may wait for ever, also after an interruption.
    await untilAborted(signal, () => pipeline(linesOf(items, check), createWriteStream(path, { mode: 0o600 })));
    return { items: () => itemsIn(path), close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Line ends for the reader of lines, but not for JSON. */
const lineEnds = /[\u2028\u2029]/g;

async function* linesOf(
  items: AsyncIterable<ItemWish>,
  check: (item: ItemWish) => Promise<void>,
): AsyncGenerator<string> {
  for await (const item of items) {
    await check(item);
    const text = JSON.stringify(item).replace(lineEnds, (end) => (end === '\u2028' ? '\\u2028' : '\\u2029'));
    yield `${text}\n`;
  }
}

async function* itemsIn(path: string): AsyncGenerator<ItemWish> {
  for await (const line of createInterface({ input: createReadStream(path), crlfDelay: Infinity })) {
    yield JSON.parse(line) as ItemWish;
  }
}

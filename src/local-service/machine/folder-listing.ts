/** The names in a folder, byte for byte: a sandbox may give names that are no UTF-8, and these must be found again. */
import type { Dirent } from 'node:fs';
import { opendir } from 'node:fs/promises';

export interface ListedName {
  /** As it is shown; a byte that is no UTF-8 becomes a replacement character. */
  readonly name: string;
  /** Where it is, for the calls of the file system. */
  readonly location: Buffer;
  readonly entry: Dirent;
}

/** Gives one name after the other, in no order. A large folder never sits in memory. */
export async function* listFolder(folder: Buffer): AsyncGenerator<ListedName> {
  for await (const entry of await opendir(folder, { encoding: 'latin1' })) {
    const name = Buffer.from(entry.name, 'latin1');
    yield { name: name.toString(), location: Buffer.concat([folder, Buffer.from('/'), name]), entry };
  }
}

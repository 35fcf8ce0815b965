/** What is in folders, byte for byte: a sandbox may give names that are no UTF-8, and these must be found again. */
import { constants, type Dirent } from 'node:fs';
import { open, opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { descriptorPath } from './folder.js';

export interface ListedName {
  /** As it is shown; a byte that is no UTF-8 becomes a replacement character. */
  readonly name: string;
  /** Where it is, for the calls of the file system. */
  readonly location: Buffer;
  readonly entry: Dirent;
}

/** The system takes 4096 bytes, and a sandbox may nest its folders deeper than that. */
const longBytes = 2_048;

/** Gives one name after the other, in no order. A large folder never sits in memory. */
export async function* listFolder(folder: Buffer): AsyncGenerator<ListedName> {
  for await (const entry of await opendir(folder, { encoding: 'latin1' })) {
    const name = Buffer.from(entry.name, 'latin1');
    yield { name: name.toString(), location: within(folder, name), entry };
  }
}

/**
 * Visits all that is below a folder, each folder before what is in it, however deep. Links are not followed, but nothing may
 * change the tree meanwhile. `path` is from that folder on.
 */
export async function visitTree(
  folder: Buffer,
  visit: (listed: ListedName, path: string) => Promise<void>,
  path = '',
): Promise<void> {
  // Entered when the listing is closed: one that stays open for each level would use up the handles of the service.
  const inner: string[] = [];
  for await (const listed of listFolder(folder)) {
    await visit(listed, join(path, listed.name));
    if (listed.entry.isDirectory()) inner.push(listed.entry.name);
  }
  if (inner.length === 0) return;
  const base = await shortened(folder);
  try {
    for (const name of inner) {
      const bytes = Buffer.from(name, 'latin1');
      await visitTree(within(base.location, bytes), visit, join(path, bytes.toString()));
    }
  } finally {
    await base.close();
  }
}

async function shortened(folder: Buffer): Promise<{ readonly location: Buffer; close(): Promise<void> }> {
  if (folder.length <= longBytes) return { location: folder, close: async () => undefined };
  const handle = await open(folder, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  const short = descriptorPath(handle);
  return { location: short === undefined ? folder : Buffer.from(short), close: async () => await handle.close() };
}

function within(folder: Buffer, name: Buffer): Buffer {
  return Buffer.concat([folder, Buffer.from('/'), name]);
}

/** Lists folders with the exact bytes of each name: a sandbox may choose names that are not UTF-8. */
import { constants, type Dirent } from 'node:fs';
import { open, opendir } from 'node:fs/promises';
import { descriptorPath } from './folder.js';

export interface ListedName {
  /** The name to show. Bytes that are not UTF-8 become replacement characters. */
  readonly name: string;
  /** The exact path, for calls of the file system. */
  readonly location: Buffer;
  readonly entry: Dirent;
}

/** Paths of this length or more are shortened. The system accepts 4096 bytes, but a sandbox may nest folders deeper. */
const longBytes = 2_048;

/** Yields one name after the other, in no particular order. A large folder is never read into memory as a whole. */
export async function* listFolder(folder: Buffer): AsyncGenerator<ListedName> {
  for await (const entry of await opendir(folder, { encoding: 'latin1' })) {
    const name = Buffer.from(entry.name, 'latin1');
    yield { name: name.toString(), location: within(folder, name), entry };
  }
}

/**
 * Visits everything below a folder, at any depth; a folder is visited before its content. Links are not followed, but
 * nobody may change the tree meanwhile.
 */
export async function visitTree(folder: Buffer, visit: (listed: ListedName) => Promise<void>): Promise<void> {
  // Inner folders are entered after the listing is closed: one open listing per level would use up the service's
  // handles.
  const inner: string[] = [];
  for await (const listed of listFolder(folder)) {
    await visit(listed);
    if (listed.entry.isDirectory()) inner.push(listed.entry.name);
  }
  if (inner.length === 0) return;
  const base = await shortened(folder);
  try {
    for (const name of inner) await visitTree(within(base.location, Buffer.from(name, 'latin1')), visit);
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

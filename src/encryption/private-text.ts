/** Reads a small file that contains a secret and that no other user may read. */
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { SandflowError } from '../contract/sandflow-error.js';
import { isOpenToOthers, isTrustedOwner } from '../os/owner.js';

const longestBytes = 64 * 1024;

/**
 * @param path a regular file of this user or root that no other user may read or write, such as one of mode 600
 * @param what it is, for messages, such as `file of encryption keys`
 * @throws SandflowError `bad_configuration`
 */
export async function readPrivateText(path: string, what: string): Promise<string> {
  const refuse = (why: string, cause?: unknown) =>
    new SandflowError('bad_configuration', `The ${what}, ${path}, ${why}.`, { cause });
  // What is not a regular file, such as a FIFO, must not be waited for.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch((cause: unknown) => {
    throw refuse('cannot be read', cause);
  });
  try {
    const stat = await file.stat();
    if (!stat.isFile()) throw refuse('is not a regular file');
    if (!isTrustedOwner(stat.uid)) throw refuse('belongs to somebody else');
    if (isOpenToOthers(stat)) throw refuse('may be read or written by others: make it mode 600');
    if (stat.size > longestBytes) throw refuse('is too large');
    return await file.readFile('utf8');
  } finally {
    await file.close();
  }
}

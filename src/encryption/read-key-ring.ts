import { type KeyRing, parseKeyRing } from './key-ring.js';
import { readPrivateText } from './private-text.js';

/**
 * Reads a ring from its file.
 * @param path a file of this user or root that no other user may read or write, such as one of mode 600
 * @throws SandflowError `bad_configuration`
 */
export async function readKeyRing(path: string): Promise<KeyRing> {
  return parseKeyRing(await readPrivateText(path, 'file of encryption keys'), path);
}

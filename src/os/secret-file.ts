/**
 * Reads files of secrets, such as keys, tokens and signing secrets. All of them have the same rules. No mode worked for
 * a secret that an orchestrator mounts: root's, with mode 440.
 */
import type { Stats } from 'node:fs';
import { SandflowError } from '../errors/sandflow-error.js';
import { decodeText } from '../texts/decode-text.js';
import { isReadableByOthers, isTrustedOwner, isWritableByOthers, ownUser } from './owner.js';
import { openToRead } from './private-file.js';

/** The largest file of secrets. */
const maxBytes = 64 * 1024;

/** Options of `readSecretFile`. */
export interface SecretFileOptions {
  /** What the file is, for messages, such as `the file of encryption keys`. */
  readonly what: string;
  /**
   * Whether owner and mode are checked. Default: true. The file must belong to this user or to root, nobody but the
   * owner may write it, and nobody but the owner and the group may read it: so orchestrators mount secrets. Links
   * to the file do not count.
   */
  readonly isChecked?: boolean;
}

/**
 * Reads a small file of secrets in UTF-8, without a byte order mark.
 * @returns the text; undefined if the file does not exist
 * @throws SandflowError `file_not_trusted`; `bad_configuration` if it cannot be read, and how to mend that
 */
export async function readSecretFile(path: string, options: SecretFileOptions): Promise<string | undefined> {
  const { what, isChecked = true } = options;
  const refuse = (why: string) => new SandflowError('bad_configuration', `${path}, ${what}, ${why}.`);
  const file = await openToRead(path, `${path}, ${what},`);
  if (!file) return undefined;
  try {
    const stats = await file.stat();
    if (!stats.isFile()) throw refuse(stats.isDirectory() ? 'is a folder' : 'is not a regular file');
    if (isChecked) {
      const problem = trustProblem(path, stats);
      if (problem) throw new SandflowError('file_not_trusted', `${path}, ${what}, ${problem}.`);
    }
    if (stats.size > maxBytes) throw refuse('is too large');
    const decoded = decodeText(await file.readFile());
    if (decoded.text === undefined) throw refuse(decoded.problem);
    return decoded.text;
  } finally {
    await file.close();
  }
}

/**
 * As `readSecretFile`, for a file that must exist.
 * @throws SandflowError `file_not_trusted`, `bad_configuration`
 */
export async function requireSecretFile(path: string, options: SecretFileOptions): Promise<string> {
  const text = await readSecretFile(path, options);
  if (text !== undefined) return text;
  throw new SandflowError('bad_configuration', `${path}, ${options.what}, does not exist.`);
}

function trustProblem(path: string, stats: Stats): string | undefined {
  if (!isTrustedOwner(stats.uid)) {
    return `belongs to user ${stats.uid}, and this is user ${ownUser()}: run \`chown ${ownUser()} ${path}\``;
  }
  if (isWritableByOthers(stats)) return `may be written by others: check it, then run \`chmod 600 ${path}\``;
  if (isReadableByOthers(stats)) {
    return `may be read by everybody: run \`chmod 600 ${path}\`, or \`chmod 440 ${path}\` for its group to read it`;
  }
  return undefined;
}

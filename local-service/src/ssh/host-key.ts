/** The host key, by which clients recognise the SSH server after each start. */
import { chmod, readFile, rename, writeFile } from 'node:fs/promises';
import ssh2, { type ParsedKey } from 'ssh2';
import { SshError } from './ssh-error.js';

/**
 * Returns the private host key in PEM. The first call creates an ed25519 key. Only its owner can read the file; other
 * permissions of an existing file are corrected. One caller at a time. Safe to repeat.
 *
 * @param file the file that stores the key; its folder must exist
 * @throws SshError `bad_host_key` if the file holds something else
 */
export async function loadHostKey(file: string): Promise<string> {
  const kept = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (kept !== undefined) {
    await chmod(file, 0o600);
    if (isPrivateKey(kept)) return kept;
    throw new SshError(
      'bad_host_key',
      `${file} does not contain a private key without a passphrase. Remove the file to create a new key.`,
    );
  }
  let made: string;
  // ssh2 (1.17) truncates one in 256 of the keys that it creates, because it takes a zero at the start for padding.
  do made = ssh2.utils.generateKeyPairSync('ed25519').private;
  while (!isPrivateKey(made));
  // The file gets its final name only when it is complete, so that a crash does not leave half a key.
  const unfinished = `${file}.unfinished`;
  await writeFile(unfinished, made, { mode: 0o600 });
  await chmod(unfinished, 0o600);
  await rename(unfinished, file);
  return made;
}

/** True for a private key in PEM that needs no passphrase. */
function isPrivateKey(text: string): boolean {
  const parsed = ssh2.utils.parseKey(text) as ParsedKey | ParsedKey[] | Error;
  const [key] = parsed instanceof Error ? [] : [parsed].flat();
  return key?.isPrivateKey() ?? false;
}

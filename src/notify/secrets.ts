/** Reads the secrets that sign notifications. Their file has mode 600 and one secret per line. */

import { randomBytes } from 'node:crypto';
import { link, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { SandflowError } from '../errors/sandflow-error.js';
import { makeFolders } from '../os/make-folders.js';
import { writeSynced } from '../os/private-file.js';
import { readSecretFile } from '../os/secret-file.js';
import { keepSecret } from '../secrecy/known-secrets.js';
import { requireOptions } from '../settings/required-options.js';
import { isNotificationSecret } from '../webhook/index.js';

/**
 * Maximum number of secrets. A rotation needs no more. Each secret adds a signature to the header, and receivers refuse
 * long headers.
 */
const mostSecrets = 8;
const what = 'the file of notification secrets';

/** Options of `createNotifySecrets`. */
export interface NotifySecretsOptions {
  /** Creates the file with a random secret if it is missing. Default: false, which makes a missing file an error. */
  readonly make?: boolean;
}

/**
 * Creates a function that reads the secrets at each call, so that they can be replaced while a worker runs. Every
 * secret signs.
 * @param file a file with one secret per line, `whsec_…`, such as one of mode 600 of the worker's user, or of mode 440 of root
 * @returns the function; it returns at least one secret, and throws SandflowError `file_not_trusted`,
 *   `bad_configuration`, `bad_notify_secrets`
 * @example
 * const notifySecrets = createNotifySecrets('/var/lib/sandflow/notify-secrets', { make: true });
 */
export function createNotifySecrets(
  file: string,
  { make = false }: NotifySecretsOptions = {},
): () => Promise<readonly string[]> {
  requireOptions({ file }, { file: 'a text' });
  return async () => {
    const text = (await readSecretFile(file, { what })) ?? (make ? await makeFile(file) : undefined);
    if (text === undefined) throw badFile(file, 'does not exist');
    const secrets = text.split(/\s+/).filter((word) => word !== '');
    for (const secret of secrets) keepSecret(secret);
    if (secrets.length === 0) throw badFile(file, 'holds no secret');
    if (secrets.length > mostSecrets) throw badFile(file, `holds more than ${mostSecrets} secrets`);
    if (!secrets.every(isNotificationSecret)) throw badFile(file, 'holds something other than secrets');
    return secrets;
  };
}

/** Creates the file. Several workers may do so at once; the first link wins, and all workers use that file. */
async function makeFile(file: string): Promise<string | undefined> {
  const temporary = `${file}.${process.pid}-${randomBytes(4).toString('hex')}`;
  try {
    await makeFolders(dirname(file), { mode: 0o700 });
    await writeSynced(temporary, `whsec_${randomBytes(32).toString('base64')}\n`);
    await link(temporary, file).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
  } catch (cause) {
    const message = `${file} cannot be created: check the owner and mode of its directory.`;
    throw new SandflowError('file_not_writable', message, { cause });
  } finally {
    await rm(temporary, { force: true });
  }
  return readSecretFile(file, { what });
}

function badFile(file: string, why: string): SandflowError {
  const message = `${file} ${why}: it must hold notification secrets, one per line: "whsec_" and the base64 of 32 random bytes.`;
  return new SandflowError('bad_notify_secrets', message);
}

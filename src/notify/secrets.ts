/** The secrets that sign notifications: in a file of mode 600, a secret a line. */
import { randomBytes } from 'node:crypto';
import { link, mkdir, open, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { SandflowError } from '../contract/sandflow-error.js';
import { readPrivateFile } from '../os/private-file.js';
import { isNotificationSecret } from '../webhook/index.js';

/** Longer lists are not a rotation, and their headers would be refused. */
const mostSecrets = 8;

/** Options of `createNotifySecrets`. */
export interface NotifySecretsOptions {
  /** Creates the file with a random secret if it is missing. Default: false, which makes a missing file an error. */
  readonly make?: boolean;
}

/**
 * Reads the secrets at each call, so that they can be replaced under a running worker. All of them sign.
 * @param file a secret a line, `whsec_…`, mode 600, of the worker's user
 * @returns at least one secret; the call throws SandflowError `file_not_trusted`, `bad_notify_secrets`
 */
export function createNotifySecrets(
  file: string,
  { make = false }: NotifySecretsOptions = {},
): () => Promise<readonly string[]> {
  return async () => {
    const text = (await readPrivateFile(file)) ?? (make ? await makeFile(file) : undefined);
    if (text === undefined) throw badFile(file, 'is not there');
    const secrets = text.split(/\s+/).filter((word) => word !== '');
    if (secrets.length === 0) throw badFile(file, 'holds no secret');
    if (secrets.length > mostSecrets) throw badFile(file, `holds more than ${mostSecrets} secrets`);
    if (!secrets.every(isNotificationSecret)) throw badFile(file, 'holds something else than secrets');
    return secrets;
  };
}

/** Several workers may begin at once: whose link comes first has made it for all. */
async function makeFile(file: string): Promise<string | undefined> {
  const temporary = `${file}.${process.pid}-${randomBytes(4).toString('hex')}`;
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    const handle = await open(temporary, 'wx', 0o600);
    try {
      await handle.writeFile(`whsec_${randomBytes(32).toString('base64')}\n`);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await link(temporary, file).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
  } catch (cause) {
    throw new SandflowError('file_not_writable', `${file} cannot be made: check the directory's owner and mode.`, {
      cause,
    });
  } finally {
    await rm(temporary, { force: true });
  }
  return readPrivateFile(file);
}

function badFile(file: string, why: string): SandflowError {
  const message = `${file} ${why}: it holds the secrets of notifications, one a line, "whsec_" and the base64 of 32 random bytes.`;
  return new SandflowError('bad_notify_secrets', message);
}

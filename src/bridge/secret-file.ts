import { randomUUID } from 'node:crypto';
import { type FileHandle, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { SandflowError } from '../errors/sandflow-error.js';
import { makeFolders } from '../os/make-folders.js';
import { keepSecret } from '../secrecy/known-secrets.js';
import { readSecrets } from './secret-source.js';

/** A place for a secret that is about to be created. */
export type SecretReservation = Awaited<ReturnType<typeof reserveSecretFile>>;

/**
 * Makes sure that a secret can be stored before the service creates it, since the service shows it only once. Creates
 * the directory (mode 700) and a temporary file (mode 600) that replaces `file` when the secret is kept.
 * @throws SandflowError `secret_file_unwritable`
 */
export async function reserveSecretFile(file: string) {
  const temporary = `${file}.${randomUUID()}.tmp`;
  const handle = await openTemporary(file, temporary);
  let settled = false;

  return {
    /**
     * Makes `secret` the first secret of the file, in one step. The previous first secret comes second, for attempts that
     * are already under way (S10).
     */
    async keep(secret: string) {
      keepSecret(secret);
      // The service shows the new secret only once, so a bad file must not keep it from being stored.
      const [previous] = (await readSecrets(file).catch(() => [])).filter((one) => one !== secret);
      await handle.writeFile(
        [secret, previous]
          .filter((one) => one !== undefined)
          .join('\n')
          .concat('\n'),
      );
      await handle.sync();
      await handle.close();
      await rename(temporary, file);
      settled = true;
    },
    /** Does not change the file. After `keep` it does nothing. */
    async discard() {
      if (settled) return;
      settled = true;
      await handle.close();
      await rm(temporary, { force: true });
    },
  };
}

/** An older temporary file was left by a process that was killed. */
const reservationLastsMs = 30_000;

/** Whether a secret is about to be kept in `file`, by this process or another one. */
export async function isReserved(file: string): Promise<boolean> {
  const names = await readdir(dirname(file)).catch(() => []);
  for (const name of names) {
    if (!name.startsWith(`${basename(file)}.`) || !name.endsWith('.tmp')) continue;
    const found = await stat(join(dirname(file), name)).catch(() => undefined);
    if (found && Date.now() - found.mtimeMs < reservationLastsMs) return true;
  }
  return false;
}

async function openTemporary(file: string, temporary: string): Promise<FileHandle> {
  try {
    await makeFolders(dirname(file), { mode: 0o700 });
    return await open(temporary, 'wx', 0o600);
  } catch (cause) {
    throw new SandflowError(
      'secret_file_unwritable',
      `The webhook secret cannot be written to ${file}. Make its directory writable, or set SANDBOX_WEBHOOK_SECRET_FILE to another file.`,
      { cause },
    );
  }
}

/** Logs the stack traces of unexpected errors for bug reports. */
import { appendFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { packageVersion } from '../client/package-version.js';
import { withoutSecrets } from '../errors/without-secrets.js';
import { makeFolders } from '../os/make-folders.js';
import { prepareTrustedFolder } from '../os/trusted-folder.js';
import type { CliIo } from './io.js';

/**
 * Appends the version, the command and the stack to `logs/errors.log` of `SANDFLOW_HOME`, mode 600. Never throws.
 * @param command its name and options, without values
 * @returns a text that says where the stack is, or that contains the stack if it could not be written
 */
export async function logInternalError(
  error: unknown,
  command: string,
  io: Pick<CliIo, 'readConfig'>,
): Promise<string> {
  const stack = withoutSecrets(error instanceof Error ? (error.stack ?? error.message) : String(error));
  const entry = `${command}, version ${await packageVersion()}\n${stack}`;
  try {
    const { home } = await io.readConfig();
    // In a folder that others may write to, a link could redirect the write to another file of the user.
    await prepareTrustedFolder({ path: home, setting: 'SANDFLOW_HOME' });
    const file = join(home, 'logs', 'errors.log');
    await makeFolders(dirname(file), { mode: 0o700 });
    await appendFile(file, `${new Date().toISOString()} ${entry}\n`, {
      mode: 0o600,
    });
    return `the end of ${file}`;
  } catch {
    return `this:\n${entry}`;
  }
}

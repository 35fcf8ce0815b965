import type { BigIntStats } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';

/** Options of `createSecretSource`. */
export interface SecretSourceOptions {
  /** Secrets that never change, such as those of the environment. */
  readonly fixed: readonly string[];
  /** A file of secrets, newest first, which may not exist yet. */
  readonly file: string;
}

/**
 * Creates a function that returns every secret that is valid now: those of the file, then the fixed ones. It looks at the
 * file each time and reads it only when it has changed, so that a rotation needs no restart (trap S10).
 * @throws whatever reading throws, save that a missing file holds nothing
 */
export function createSecretSource(options: SecretSourceOptions): () => Promise<string[]> {
  let seen: string | undefined;
  let secrets = unique(options.fixed);
  return async () => {
    const now = await versionOf(options.file);
    if (now !== seen) {
      // The version was taken before the reading: a change in between is seen again at the next call.
      secrets = unique([...(now === undefined ? [] : await readSecrets(options.file)), ...options.fixed]);
      seen = now;
    }
    return secrets;
  };
}

/** The secrets in a file, newest first; none if it does not exist. Separated by lines, white space or commas. */
export async function readSecrets(file: string): Promise<string[]> {
  const text = await unlessMissing(readFile(file, 'utf8'));
  return unique((text ?? '').split(/[\s,]+/));
}

async function versionOf(file: string): Promise<string | undefined> {
  const found: BigIntStats | undefined = await unlessMissing(stat(file, { bigint: true }));
  return found && `${found.ino}:${found.mtimeNs}:${found.size}`;
}

async function unlessMissing<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

function unique(secrets: readonly string[]): string[] {
  return [...new Set(secrets)].filter((secret) => secret !== '');
}

import type { BigIntStats } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { keepSecret } from '../contract/secrecy/known-secrets.js';

/** Options of `createSecretSource`. */
export interface SecretSourceOptions {
  /** Secrets that never change, such as those of the environment. */
  readonly fixed: readonly string[];
  /** A file of secrets, newest first, which may not exist yet. */
  readonly file: string;
}

/**
 * Creates a function that returns every secret that is valid now: those of the file, then the fixed ones. It checks the
 * file each time and reads it only when it has changed, so that a rotation needs no restart (trap S10).
 * @throws errors of reading the file; a missing file counts as empty
 */
export function createSecretSource(options: SecretSourceOptions): () => Promise<string[]> {
  let seen: string | undefined;
  let secrets = unique(options.fixed);
  return async () => {
    const now = await versionOf(options.file);
    if (now !== seen) {
      // The version was taken before the file was read, so the next call detects a change in between.
      secrets = unique([...(now === undefined ? [] : await readSecrets(options.file)), ...options.fixed]);
      seen = now;
    }
    return secrets;
  };
}

/**
 * Reads the secrets in a file, newest first. Returns none if the file does not exist. Secrets are separated by white
 * space or commas.
 */
export async function readSecrets(file: string): Promise<string[]> {
  const text = await readFile(file, 'utf8').catch(ifMissing);
  return unique((text ?? '').split(/[\s,]+/));
}

async function versionOf(file: string): Promise<string | undefined> {
  const found: BigIntStats | undefined = await stat(file, { bigint: true }).catch(ifMissing);
  return found && `${found.ino}:${found.mtimeNs}:${found.size}`;
}

function ifMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}

function unique(secrets: readonly string[]): string[] {
  const found = [...new Set(secrets)].filter((secret) => secret !== '');
  for (const secret of found) keepSecret(secret);
  return found;
}

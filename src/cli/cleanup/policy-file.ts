/** The policy file that a command was given. */
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { type CleanupPolicy, readPolicy } from '../../retention/index.js';
import type { CliIo } from '../io.js';
import { UsageError } from '../usage-error.js';

/** @throws UsageError where there is no such file; SandflowError `bad_policy` */
export async function readPolicyFile(file: string, { cwd }: Pick<CliIo, 'cwd'>): Promise<CleanupPolicy> {
  let text: string;
  try {
    text = await readFile(resolve(cwd, file), 'utf8');
  } catch (cause) {
    throw new UsageError(`The policy ${file} cannot be read.`, { cause });
  }
  return readPolicy(text, file);
}

/** Reads the policy file of a command; also `sandflow cleanup validate`. */
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { type CleanupPolicy, readPolicy, windowsText } from '../../retention/index.js';
import { decodeText } from '../../texts/decode-text.js';
import type { CommandContext } from '../command.js';
import type { CliIo } from '../io.js';
import { printJson } from '../output/json.js';
import { plural } from '../units.js';
import { UsageError } from '../usage-error.js';

/** @throws UsageError if the file cannot be read; SandflowError `bad_policy` */
export async function readPolicyFile(file: string, { cwd }: Pick<CliIo, 'cwd'>): Promise<CleanupPolicy> {
  let text: string;
  try {
    const decoded = decodeText(await readFile(resolve(cwd, file)));
    if (decoded.text === undefined) throw new UsageError(`The policy ${file} ${decoded.problem}.`);
    text = decoded.text;
  } catch (cause) {
    if (cause instanceof UsageError) throw cause;
    throw new UsageError(`The policy ${file} cannot be read. Check that it exists and is readable.`, { cause });
  }
  return readPolicy(text, file);
}

export async function validatePolicy(
  file: string,
  { json }: { readonly json?: boolean },
  { io }: CommandContext,
): Promise<void> {
  const policy = await readPolicyFile(file, io);
  if (json) return printJson(io.stdout, { policy, error: null });
  const { name, rules, protect, limits } = policy;
  io.stdout.write(
    `${name}: ${plural(rules.length, 'rule')}, ${plural(protect.length, 'protected pattern')}, ` +
      `at most ${limits.maxActions} actions and ${limits.maxPercent} % per night, ${windowsText(policy)}\n`,
  );
}

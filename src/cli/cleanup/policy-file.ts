/** Reads the policy file of a command; also `sandflow cleanup validate`. */
import { resolve } from 'node:path';
import { type CleanupPolicy, readPolicy, windowsText } from '../../retention/index.js';
import type { CommandContext, JsonOption } from '../command.js';
import type { CliIo } from '../io.js';
import { printJson } from '../output/json.js';
import { readTextFile } from '../text-file.js';
import { plural } from '../units.js';

/** @throws UsageError if the file cannot be read; SandflowError `bad_policy` */
export async function readPolicyFile(file: string, { cwd }: Pick<CliIo, 'cwd'>): Promise<CleanupPolicy> {
  return readPolicy(await readTextFile(resolve(cwd, file), `The policy ${file}`), file);
}

export async function validatePolicy(file: string, { json }: JsonOption, { io }: CommandContext): Promise<void> {
  const policy = await readPolicyFile(file, io);
  if (json) return printJson(io.stdout, { policy, error: null });
  const { name, rules, protect, limits } = policy;
  io.stdout.write(
    `${name}: ${plural(rules.length, 'rule')}, ${plural(protect.length, 'protected pattern')}, ` +
      `at most ${limits.maxActions} actions and ${limits.maxPercent} % per night, ${windowsText(policy)}\n`,
  );
}

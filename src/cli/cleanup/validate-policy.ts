/** `sandflow cleanup validate`. */
import { windowsText } from '../../retention/index.js';
import type { CommandContext } from '../command.js';
import { printJson } from '../output/json.js';
import { readPolicyFile } from './policy-file.js';

export async function validatePolicy(
  file: string,
  { json }: { readonly json?: boolean },
  { io }: CommandContext,
): Promise<void> {
  const { policy } = await readPolicyFile(file, io);
  if (json) return printJson(io.stdout, { policy, error: null });
  const { name, rules, protect, limits } = policy;
  const count = (n: number, what: string) => `${n} ${what}${n === 1 ? '' : 's'}`;
  io.stdout.write(
    `${name}: ${count(rules.length, 'rule')}, ${count(protect.length, 'protected pattern')}, ` +
      `at most ${limits.maxActions} actions and ${limits.maxPercent} % per night, ${windowsText(policy)}\n`,
  );
}

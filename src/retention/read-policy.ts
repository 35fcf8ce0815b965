/** Reads a policy file, and reports the line of each problem. */
import { SandflowError } from '../errors/sandflow-error.js';
import type { CleanupPolicy } from '../protocol/cleanup-policy.js';
import { readYaml } from '../settings/read-yaml.js';
import { policyOf, policySchema } from './policy-schema.js';

/** Limit of a policy, in characters: it is part of the input of a workflow and of its schedule. */
const longestPolicy = 200_000;

/**
 * @param text YAML 1.2; JSON is YAML, too
 * @param file its name, for errors
 * @throws SandflowError `bad_policy`: one line for each problem, with the line of the file
 * @example
 * const policy = readPolicy(await readFile('nightly.yaml', 'utf8'), 'nightly.yaml');
 */
export function readPolicy(text: string, file: string): CleanupPolicy {
  if (text.length > longestPolicy) throw badPolicy([`${file}: is longer than ${longestPolicy} characters`]);
  return policyOf(readYaml(text, { file, schema: policySchema, whole: 'the policy', refuse: badPolicy }));
}

function badPolicy(problems: readonly string[], cause?: unknown): SandflowError {
  return new SandflowError('bad_policy', `The policy is invalid:\n  ${problems.join('\n  ')}`, { cause });
}

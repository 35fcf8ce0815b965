/** Checks the input of a cleanup before anything is started or scheduled. */

import { deploymentProblem } from '../../addresses/addresses.js';
import { SandflowError } from '../../errors/sandflow-error.js';
import { patternProblem } from '../../retention/glob.js';
import type { CleanupPolicy } from '../../retention/index.js';
import { patternsOf } from '../../retention/policy-patterns.js';
import { payloadBytes } from '../../texts/length.js';

/**
 * The size of a policy is limited because each run of a cleanup passes it on to the next run, together with its state.
 */
const maxPolicyBytes = 300_000;
/** The length of a name is limited because it is part of ids. */
const longestName = 40;

/**
 * @throws SandflowError `bad_policy` if the policy is too large, has too long a name or a pattern with signs of another
 *   language; `bad_configuration`
 */
export function checkCleanup({
  deployment,
  policy,
}: {
  readonly deployment: string;
  readonly policy: CleanupPolicy;
}): void {
  checkDeployment(deployment);
  if (policy.name.length > longestName) {
    throw bad(
      `Its name has ${policy.name.length} characters, but at most ${longestName} are allowed. Choose a shorter name.`,
    );
  }
  for (const { where, pattern } of patternsOf(policy)) {
    const problem = patternProblem(pattern);
    if (problem !== null) throw bad(`The pattern "${pattern}" of ${where} ${problem}.`);
  }
  const bytes = payloadBytes(policy);
  if (bytes <= maxPolicyBytes) return;
  throw bad(
    `It has ${bytes} bytes, but at most ${maxPolicyBytes} are allowed. Use fewer or shorter rules and patterns.`,
  );
}

/** @throws SandflowError `bad_configuration` */
export function checkDeployment(deployment: string): void {
  const problem = deploymentProblem(deployment);
  if (problem) throw new SandflowError('bad_configuration', `SANDFLOW_DEPLOYMENT: ${problem}.`);
}

function bad(why: string): SandflowError {
  return new SandflowError('bad_policy', `The policy cannot be used. ${why}`);
}

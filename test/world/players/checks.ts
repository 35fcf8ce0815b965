/** The checks of a world. Each notes its runs outside of the sandbox, where no restore of a machine undoes the note. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JobInput } from '../../../workflows/index.js';
import type { BatchPlan, RunPlan } from '../plan/plan.js';
import { script } from './account.js';

/** How often the check of this job has begun. */
export function checkRuns(notes: string, job: string): number {
  try {
    return readFileSync(runsFile(notes, job), 'utf8').split('\n').length - 1;
  } catch {
    return 0;
  }
}

const runsFile = (notes: string, job: string) => join(notes, `runs-${job}`);

/** The beginning of each prompt by which a failed check makes the agent mend its work. */
export const mendText = (job: string) => script(`echo mended >> ${job}.work; echo ${job} mended`);

/** Letters, since numbers do not tell two failures apart. */
const mended = (job: string) => `n=$(cat ${job}.work 2>&- | wc -l | tr -d " "); echo "mended $n" | tr 0-9 a-j`;

/** The settings of a run with checks; nothing without. */
export function checksOf({ key, checks }: RunPlan, notes: string): Partial<JobInput> {
  if (!checks) return {};
  const shown = {
    passes: `${mended(key)}; [ $n -ge ${checks.mends} ]`,
    differs: `${mended(key)}; false`,
    repeats: 'echo the same; false',
    missing: 'no-such-command',
  };
  return {
    checks: [`echo ran >> ${runsFile(notes, key)}; ${shown[checks.shows]}`],
    rounds: checks.rounds,
    checkPrompt: `${mendText(key)}\n{{output}}`,
    checkBefore: checks.before,
  };
}

const mendedFile = (notes: string, job: string) => join(notes, `mended-${job}`);

/** A check of each item of a batch that cannot start until somebody mends it. */
export const itemCheckOf = ({ key }: BatchPlan, notes: string) =>
  `test -e ${mendedFile(notes, key)} || no-such-command`;

export function mendItemCheck({ key }: BatchPlan, notes: string): void {
  writeFileSync(mendedFile(notes, key), '');
}

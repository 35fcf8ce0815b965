/**
 * Checks numbers of options before anything starts. Later, a library would report them less clearly, or use them. A
 * start that failed late kept its connection, its database or its ports.
 */
import { SandflowError } from '../errors/sandflow-error.js';

/**
 * @param numbers by name; undefined stands for the default
 * @throws SandflowError `bad_argument` with the name of the first that is no whole number of at least `least`
 */
export function requireCounts(numbers: Readonly<Record<string, number | undefined>>, least = 1): void {
  for (const [name, value = least] of Object.entries(numbers)) {
    if (Number.isSafeInteger(value) && value >= least) continue;
    throw new SandflowError('bad_argument', `${name} must be a whole number, ${least} or more.`);
  }
}

/** @throws SandflowError `bad_argument` with the name of the first that is no number above 0 */
export function requirePositive(numbers: Readonly<Record<string, number | undefined>>): void {
  for (const [name, value = 1] of Object.entries(numbers)) {
    if (Number.isFinite(value) && value > 0) continue;
    throw new SandflowError('bad_argument', `${name} must be a number above 0.`);
  }
}

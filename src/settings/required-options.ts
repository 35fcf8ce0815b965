/**
 * Checks what callers must give, for those whom no compiler tells. Later it would fail elsewhere, under another name. A
 * missing option was a TypeError without a code.
 */
import { SandflowError } from '../errors/sandflow-error.js';

const kinds = {
  'a text': (value: unknown) => typeof value === 'string' && value !== '',
  'a function': (value: unknown) => typeof value === 'function',
  'a list': Array.isArray,
  'an object': (value: unknown) => typeof value === 'object' && value !== null,
} as const;

type Kind = keyof typeof kinds;

/**
 * @param given the options, or the arguments by name
 * @param required the kinds that each of them may have
 * @throws SandflowError `bad_argument` with the name of the first that is missing or of another kind
 */
export function requireOptions(given: unknown, required: Readonly<Record<string, Kind | Kind[]>>): void {
  for (const [name, kind] of Object.entries(required)) {
    const allowed = [kind].flat();
    const value: unknown = Reflect.get(Object(given), name);
    if (allowed.some((one) => kinds[one](value))) continue;
    const found = value === undefined ? 'is missing' : 'is of the wrong kind';
    throw new SandflowError('bad_argument', `${name} ${found}: it must be ${allowed.join(' or ')}.`);
  }
}

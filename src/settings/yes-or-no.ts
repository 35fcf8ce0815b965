/**
 * Settings that are on or off. Temporal's library took TEMPORAL_TLS=True for no, and an API key was sent in the clear.
 */
import { SandflowError } from '../errors/sandflow-error.js';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads a setting that is on or off.
 * @returns undefined if the variable is unset or empty
 * @throws SandflowError `bad_configuration` with the name of the variable, for any other word
 */
export function yesOrNo(env: Environment, name: string): boolean | undefined {
  const text = env[name]?.trim();
  if (!text) return undefined;
  if (/^(?:true|1|yes|on)$/i.test(text)) return true;
  if (/^(?:false|0|no|off)$/i.test(text)) return false;
  throw new SandflowError('bad_configuration', `${name} must be true or false.`);
}

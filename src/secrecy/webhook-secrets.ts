/** Reads the secrets that verify webhooks. A text that cannot be one would refuse every delivery without a word. */
import { SandflowError } from '../errors/sandflow-error.js';
import { keepSecret } from './known-secrets.js';

/**
 * Splits a text at commas, white space and line ends.
 * @param setting where the text comes from, for the message
 * @returns each secret once, in order
 * @throws SandflowError `bad_configuration` if one is not `whsec_` and printable characters; the message does not quote it
 */
export function webhookSecretsIn(text: string, setting: string): string[] {
  const secrets = [...new Set(text.split(/[\s,]+/))].filter((secret) => secret !== '');
  for (const secret of secrets) keepSecret(secret);
  if (secrets.every((secret) => /^whsec_[\x21-\x7e]+$/.test(secret))) return secrets;
  throw new SandflowError(
    'bad_configuration',
    `${setting} holds something other than webhook secrets. Each begins with whsec_, and is plain text without control characters. Set it again, or use \`sandflow webhooks rotate\` for a new one.`,
  );
}

/** `--assume` of `sandflow up`. */
import { resolve } from 'node:path';
import type { Config } from '../../config.js';
import { readAssumed } from '../../supervisor/assumed.js';
import { readStatus } from '../connect/stack-status.js';
import type { CliIo } from '../io.js';
import { programName } from '../program-name.js';
import { UsageError } from '../usage-error.js';

/**
 * The configuration, with the record that the stack is to play.
 * @throws UsageError if there is nothing that could play it, or a stack that does not
 */
export async function configOfStack({ assume }: { readonly assume?: string }, io: CliIo): Promise<Config> {
  const assumed = assume === undefined ? undefined : await readAssumed(resolve(io.cwd, assume));
  const config = await io.readConfig();
  if (assumed === undefined) return config;
  if (config.sandboxService) throw new UsageError('--assume is for the local service, and SANDBOX_API_URL is set.');
  if ((await readStatus(config.home)) === undefined) return { ...config, assumed };
  throw new UsageError(`--assume is for a new stack, and one is running. End it first: \`${programName} down\`.`);
}

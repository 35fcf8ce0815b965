/** `sandflow store copy`: copies the stores of this deployment into a bucket. */
import { storeIn } from '../../config.js';
import { copyResults } from '../../result-store/copy-results.js';
import { openBucket } from '../../s3/bucket.js';
import type { Copied } from '../../s3/copy-each.js';
import { copySecrets } from '../../secret-store/copy-secrets.js';
import { createSecretStore } from '../../secret-store/index.js';
import { bucketAddressProblem } from '../../texts/bucket-address.js';
import type { CommandContext } from '../command.js';
import { openEncryption } from '../connect/encryption.js';
import { failureOf } from '../errors.js';
import { exitCodes } from '../exit-codes.js';
import { oneLine } from '../output/terminal-safe.js';
import { plural } from '../units.js';
import { UsageError } from '../usage-error.js';

/**
 * @returns 0 if all was copied, 1 if something could not be read
 * @throws UsageError, SandflowError as the stores
 */
export async function copyStores({ to }: { readonly to: string }, { io }: CommandContext): Promise<number> {
  const problem = bucketAddressProblem(to);
  if (problem !== undefined) throw new UsageError(`--to ${problem}.`);
  const config = await io.readConfig();
  const signal = io.interrupted;
  const results = storeIn(to, config.deployment, 'results');
  const secrets = storeIn(to, config.deployment, 'secrets');
  if (config.results === results || config.secrets === secrets) {
    throw new UsageError(
      '--to is where a store is already. Set SANDFLOW_RESULTS and SANDFLOW_SECRETS to what is to be copied.',
    );
  }
  const warn = (text: string) => void io.stderr.write(`${oneLine(text)}\n`);
  let failures = 0;
  const say = (what: string, place: string, { copied, there, failed }: Copied) => {
    io.stdout.write(`${plural(copied, what)} copied to ${place}, ${there} already there\n`);
    for (const { name, error } of failed) warn(`The ${what} ${name} was not copied: ${failureOf(error).error.message}`);
    failures += failed.length;
  };
  const { ring } = await openEncryption(config);
  await openBucket(results).check();
  // There are few, and a job that lacks one fails.
  if (ring) {
    const copied = await copySecrets(createSecretStore(config.secrets, { ring }), secrets, { ring, signal });
    say('secret', secrets, copied);
    if (copied.onlyThere.length > 0) {
      warn(
        `Only in ${secrets}: ${copied.onlyThere.join(', ')}. Remove there what was deleted in ${config.secrets} after an earlier copy.`,
      );
    }
  } else if ((await createSecretStore(config.secrets).list()).length > 0) {
    warn(
      `The secrets stay in ${config.secrets}: without SANDFLOW_ENCRYPTION_KEYS_FILE they would be unencrypted in the bucket.`,
    );
  }
  say('result', results, await copyResults(config.results, results, { signal }));
  return failures === 0 ? exitCodes.done : exitCodes.otherOutcome;
}

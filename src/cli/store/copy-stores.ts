/** `sandflow store copy`: copies the stores of this deployment into a bucket. */
import { storeIn } from '../../config.js';
import { copyResults } from '../../result-store/copy-results.js';
import { createResultStore } from '../../result-store/index.js';
import { openBucket } from '../../s3/bucket.js';
import { copySecrets } from '../../secret-store/copy-secrets.js';
import { createSecretStore } from '../../secret-store/index.js';
import { bucketAddressProblem } from '../../texts/bucket-address.js';
import type { CommandContext } from '../command.js';
import { openEncryption } from '../connect/encryption.js';
import { plural } from '../units.js';
import { UsageError } from '../usage-error.js';

/** @throws UsageError, SandflowError as the stores */
export async function copyStores(to: string, { io }: CommandContext): Promise<void> {
  const problem = bucketAddressProblem(to);
  if (problem !== undefined) throw new UsageError(`--to ${problem}.`);
  const config = await io.readConfig();
  const results = storeIn(to, config.deployment, 'results');
  const secrets = storeIn(to, config.deployment, 'secrets');
  if (config.results === results || config.secrets === secrets) {
    throw new UsageError(
      '--to is where a store is already. Set SANDFLOW_RESULTS and SANDFLOW_SECRETS to what is to be copied.',
    );
  }
  const say = (what: string, place: string, { copied, there }: { copied: number; there: number }) =>
    void io.stdout.write(`${plural(copied, what)} copied to ${place}, ${there} already there\n`);
  const { ring } = await openEncryption(config);
  await openBucket(results).check();
  say('result', results, await copyResults(createResultStore(config.results), results, { signal: io.interrupted }));
  if (ring) {
    say('secret', secrets, await copySecrets(createSecretStore(config.secrets, { ring }), secrets, ring));
  } else if ((await createSecretStore(config.secrets).list()).length > 0) {
    io.stderr.write(
      `The secrets stay in ${config.secrets}: without SANDFLOW_ENCRYPTION_KEYS_FILE they would be unencrypted in the bucket.\n`,
    );
  }
}

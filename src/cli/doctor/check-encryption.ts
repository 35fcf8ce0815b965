/** Checks which key encrypts, which keys can decrypt here, and whether the deployment's workers have the same keys. */
import type { Client } from '@temporalio/client';
import type { Config } from '../../config.js';
import type { KeyRing } from '../../encryption/index.js';
import { agreeOnKeys, deploymentKeys } from '../../temporal/deployment-keys.js';
import { openEncryption } from '../connect/encryption.js';
import { failureOf } from '../errors.js';
import { type Check, failed, ok, skipped, warning } from './check.js';

const name = 'encryption';
const compare = 'Compare the files of keys; see docs/encryption.md, "Keys that do not match".';

/** Reads the configured key ring. Returns a failed check if its file is invalid. */
export async function readRing(config: Pick<Config, 'encryption'>): Promise<KeyRing | undefined | Check> {
  try {
    return (await openEncryption(config)).ring;
  } catch (error) {
    return failed(name, failureOf(error).error.message, 'Fix the file that SANDFLOW_ENCRYPTION_KEYS_FILE names.');
  }
}

/** Compares the ring with the keys that the worker that started last has announced. Changes nothing. */
export async function checkEncryption(
  temporal: Client,
  { deployment }: Pick<Config, 'deployment'>,
  ring: KeyRing | undefined,
): Promise<Check> {
  const here =
    ring && `This machine encrypts with "${ring.first.id}" and reads ${listed(ring.keys.map(({ id }) => id))}`;
  try {
    const agreement = await agreeOnKeys(temporal, { deployment, ring });
    if (agreement.kind === 'unasked') return unknown(here, agreement.reason);
    if (!ring) return skipped(name, 'No encryption keys: data in Temporal and the result store is not encrypted.');
    const known = await deploymentKeys(temporal, deployment);
    const lacking = Object.entries(known?.checks ?? {}).filter(([id, check]) => ring.find(id)?.check !== check);
    if (lacking.length === 0) return ok(name, `${here}; the workers of "${deployment}" have the same keys.`);
    const ids = listed(lacking.map(([id]) => id));
    return warning(
      name,
      `${here}; the workers of "${deployment}" also read ${ids}.`,
      `Add ${ids} to the keys of this machine.`,
    );
  } catch (error) {
    const { message } = failureOf(error).error;
    return failed(name, here ? `${here}. ${message}` : message, compare);
  }
}

function unknown(here: string | undefined, reason: string): Check {
  const what = `${here ?? 'This machine has no keys'}; the deployment's keys cannot be read from Temporal: ${reason}`;
  return warning(name, what, 'Fix the connection to Temporal first.');
}

function listed(ids: readonly string[]): string {
  return ids.map((id) => `"${id}"`).join(', ');
}

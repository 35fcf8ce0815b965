/** Where the outputs of jobs are kept that are too large for history. Workers and this command must agree on it. */
import type { Config } from '../../config.js';
import { encryptResults } from '../../encryption/index.js';
import { createResultStore, type ResultStore } from '../../result-store/index.js';
import type { Encryption } from './encryption.js';

export function openResults(
  config: Pick<Config, 'results'>,
  { ring }: Pick<Encryption, 'ring'>,
  { requireEncrypted = false } = {},
): ResultStore {
  const store = createResultStore(config.results);
  return ring ? encryptResults(store, ring, { requireEncrypted }) : store;
}

/** Where the outputs of jobs are kept that are too large for history. Workers and this command must agree on it. */
import type { Config } from '../../config.js';
import { createResultStore, type ResultStore } from '../../result-store/index.js';

export function openResults(config: Pick<Config, 'results'>): ResultStore {
  return createResultStore(config.results);
}

/** Checks the command line of `fanout resume`. Loads no heavy module, so that a mistake is answered at once. */
import type { FanoutPolicy } from '../../protocol/fanout/fanout-input.js';
import type { CliIo } from '../io.js';
import { ofThisProcess, parseDurationMs } from '../units.js';
import { requireWatch } from '../usage-error.js';
import { policyOf } from './batch-input.js';
import type { ResumeFanoutOptions } from './options.js';
import { requireResultPlaces } from './result-places.js';

/**
 * @returns the parts of the policy that the command line changes
 * @throws UsageError
 */
export async function readResume(
  batchId: string,
  options: ResumeFanoutOptions,
  io: Pick<CliIo, 'cwd'>,
): Promise<Partial<FanoutPolicy>> {
  const policy = policyOf(options);
  requireWatch(options);
  parseDurationMs(options.watchDeadline, '--watch-deadline', ofThisProcess);
  await requireResultPlaces(batchId, options, io);
  return policy;
}

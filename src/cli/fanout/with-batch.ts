/** Opens the platform and the view for one command about a batch, and closes them afterwards. */
import { SandflowError } from '../../errors/sandflow-error.js';
import { describeFanout, type FanoutAddress } from '../../workflow-client/fanouts/fanout-client.js';
import type { CommandContext } from '../command.js';
import type { Platform } from '../connect/platform.js';
import { withPlatform } from '../connect/with-platform.js';
import { type BatchView, createBatchView } from './progress/batch-view.js';

export function withBatch<T>(
  context: CommandContext,
  { quiet = false }: { readonly quiet?: boolean },
  act: (platform: Platform, view: BatchView) => Promise<T>,
): Promise<T> {
  return withPlatform(context, { needsWorker: true, quiet }, async (platform, reporter) => {
    reporter.close();
    const view = createBatchView({ stream: context.io.stderr, quiet });
    try {
      return await act(platform, view);
    } finally {
      view.close();
    }
  });
}

/** True if the batch runs or has ended, so that its id starts no other one. */
export async function batchExists(
  platform: Pick<Platform, 'temporal' | 'patiently'>,
  batch: FanoutAddress,
): Promise<boolean> {
  try {
    await platform.patiently(() => describeFanout(platform.temporal, batch));
    return true;
  } catch (error) {
    if (error instanceof SandflowError && error.code === 'fanout_not_found') return false;
    throw error;
  }
}

/** Opens the platform and the view for one command about a batch, and closes them afterwards. */
import type { CommandContext } from '../command.js';
import type { Platform } from '../connect/platform.js';
import { withPlatform } from '../connect/with-platform.js';
import { type BatchView, createBatchView } from './progress/batch-view.js';

export interface WithBatchOptions {
  /** Id of the batch. It is checked before anything starts. */
  readonly batchId: string;
  readonly quiet?: boolean;
}

export function withBatch<T>(
  context: CommandContext,
  { batchId, quiet = false }: WithBatchOptions,
  act: (platform: Platform, view: BatchView) => Promise<T>,
): Promise<T> {
  return withPlatform(context, { batchId, needsWorker: true, quiet }, async (platform, reporter) => {
    reporter.close();
    const view = createBatchView({ stream: context.io.stderr, quiet });
    try {
      return await act(platform, view);
    } finally {
      view.close();
    }
  });
}

/** Waits for a cleanup and shows its progress. */
import { setTimeout as sleep } from 'node:timers/promises';
import { anySignal } from '../../os/any-signal.js';
import type { CleanupProgress, CleanupSummary } from '../../protocol/cleanup.js';
import { type CleanupHandle, cleanupProgress } from '../../workflow-client/cleanups/cleanup-client.js';
import type { CliIo } from '../io.js';
import type { Reporter } from '../output/reporter.js';
import { createScreenLines, textLine } from '../output/screen-lines.js';

const lookEveryMs = 1_000;

/** Returns undefined after Ctrl-C; the cleanup continues. */
export async function watchCleanup(
  handle: CleanupHandle,
  { stderr, interrupted }: Pick<CliIo, 'stderr' | 'interrupted'>,
  reporter: Reporter,
): Promise<CleanupSummary | undefined> {
  const status = createScreenLines(stderr, { enabled: true });
  const over = new AbortController();
  const stopped = anySignal([over.signal, interrupted]);
  let blockedSince = '';
  const look = async () => {
    while (!stopped.aborted) {
      await sleep(lookEveryMs, undefined, { signal: stopped });
      // If no worker answers now, the result still arrives later.
      const progress = await cleanupProgress(handle).catch(() => undefined);
      if (!progress || stopped.aborted) continue;
      status.show((width) => [textLine(progressText(progress), width)]);
      const { blocked } = progress;
      if (blocked && blocked.since !== blockedSince) {
        status.close();
        reporter.notice(`The service refuses requests for now (${blocked.message}); the cleanup waits and retries.`);
      }
      blockedSince = blocked?.since ?? '';
    }
  };
  const left = new Promise<undefined>((resolve) => {
    if (interrupted.aborted) resolve(undefined);
    else interrupted.addEventListener('abort', () => resolve(undefined), { once: true, signal: over.signal });
  });
  const looking = look().catch(() => undefined);
  try {
    return await Promise.race([handle.result(), left]);
  } finally {
    over.abort();
    await looking;
    status.close();
  }
}

function progressText({ phase, due, counts }: CleanupProgress): string {
  if (phase === 'planning') return 'planning: reading the sandboxes and their owners';
  const done = Object.values(counts).reduce((sum, count) => sum + count, 0);
  return `${phase}: ${done} of ${due ?? '?'} done, ${counts.deleted} deleted, ${counts.stopped} stopped`;
}

/** What all worlds of a run share: the Temporal program, the workflow bundle, a directory, and the end by Ctrl-C. */
import { setMaxListeners } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { readConfig } from '../../src/config.js';
import { findTemporalServer } from '../../src/temporal-server/find.js';
import { unencryptedBundle } from '../../src/worker/index.js';
import type { Plan } from './plan/plan.js';
import { playWorld, type WorldEnd } from './play-world.js';

export interface Workshop {
  readonly directory: string;
  readonly signal: AbortSignal;
  play(plan: Plan, options?: { readonly workers?: number }): Promise<WorldEnd>;
  close(): Promise<void>;
}

/** @param options.keep keeps the state and the logs of the processes */
export async function openWorkshop(options: {
  readonly keep: boolean;
  readonly onProgress: (line: string) => void;
}): Promise<Workshop> {
  const aborter = new AbortController();
  // Every wait of every world listens to it.
  setMaxListeners(0, aborter.signal);
  process.once('SIGINT', () => aborter.abort(new Error('interrupted')));
  const directory = await mkdtemp(join(tmpdir(), 'sandflow-world-'));
  const { cacheDirectory } = readConfig();
  const temporalBinary = await findTemporalServer({ cacheDirectory, onProgress: options.onProgress });
  const workflowsPath = fileURLToPath(new URL('../../workflows/index.js', import.meta.url));
  const { code } = await bundleWorkflowCode({ ...unencryptedBundle, workflowsPath, logger: new DefaultLogger('WARN') });
  const bundlePath = join(directory, 'workflow-bundle.js');
  await writeFile(bundlePath, code);
  let played = 0;
  return {
    directory,
    signal: aborter.signal,
    async play(plan, { workers } = {}) {
      played += 1;
      const at = join(directory, `${plan.seed}-${played}`);
      try {
        const { signal } = aborter;
        return await playWorld(plan, { directory: at, temporalBinary, bundlePath, signal, workers });
      } finally {
        if (!options.keep) await rm(at, { recursive: true, force: true });
      }
    },
    async close() {
      if (options.keep) options.onProgress(`kept: ${directory}`);
      else await rm(directory, { recursive: true, force: true });
    },
  };
}

/** @throws if the text is not a whole number */
export function wholeNumber(option: string, text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw new Error(`--${option} must be a whole number, not "${text}".`);
}

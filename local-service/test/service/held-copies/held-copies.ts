/**
 * Holds the copies from snapshots to disks until the test lets them go. The file of the test mocks the module that starts
 * `cp`: `vi.mock(import('…/machine/program.js'), { spy: true })`.
 */
import { onTestFinished, vi } from 'vitest';
import * as program from '../../../src/machine/program.js';

export interface HeldCopies {
  /** Resolves when this many copies have begun. */
  begun(count?: number): Promise<void>;
  /** Lets all copies go, also later ones. */
  release(): void;
  /** Makes the copies that are held fail, and holds later ones. */
  fail(): void;
}

export async function holdCopies(): Promise<HeldCopies> {
  const { runProgram } = await vi.importActual<typeof program>('../../../src/machine/program.js');
  const held = new Set<(outcome: 'go' | 'fail') => void>();
  let [count, isReleased] = [0, false];
  vi.mocked(program.runProgram).mockImplementation(async (file, args, options) => {
    const isRestore = file === 'cp' && args.some((arg) => arg.includes('/snapshots/') && arg.endsWith('/.'));
    if (!isRestore || isReleased) return runProgram(file, args, options);
    count += 1;
    const outcome = await new Promise<'go' | 'fail'>((resolve) => {
      held.add(resolve);
      // The program is then started, and ended at once.
      if (options?.signal?.aborted) resolve('go');
      else options?.signal?.addEventListener('abort', () => resolve('go'), { once: true });
    });
    if (outcome === 'fail') return { exitCode: 1, stdout: '', stderr: 'cp: no space is left' };
    return runProgram(file, args, options);
  });
  const end = (outcome: 'go' | 'fail'): void => {
    for (const settle of held) settle(outcome);
    held.clear();
  };
  const release = (): void => {
    isReleased = true;
    end('go');
  };
  onTestFinished(() => {
    release();
    vi.mocked(program.runProgram).mockReset();
  });
  return {
    begun: (wanted = 1) => vi.waitUntil(() => count >= wanted, { timeout: 120_000, interval: 5 }).then(() => undefined),
    release,
    fail: () => end('fail'),
  };
}

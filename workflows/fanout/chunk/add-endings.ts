/** Adds to the stored results of items how they ended, for many items with one activity. */
import { bulk } from '../../shared/proxies.js';
import type { ChunkState } from './chunk-state.js';

/** Writes all endings that are known, unless a write is under way. The next run repeats what this one has not confirmed. */
export async function addEndings(chunk: ChunkState): Promise<void> {
  const { endings } = chunk.carried;
  const written = endings.length;
  if (chunk.isAddingEndings || written === 0) return;
  chunk.isAddingEndings = true;
  try {
    await bulk.addItemEndings.executeWithOptions({ summary: `ends of ${written} items` }, [[...endings]]);
  } catch {
    // The results lack how their forks ended. A resume of the batch would end these again.
  }
  chunk.isAddingEndings = false;
  endings.splice(0, written);
  if (chunk.hasRunAll) chunk.noteChange('now');
}

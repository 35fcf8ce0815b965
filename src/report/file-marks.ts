/** What a report says about a collected file, beside its size. */
import type { CollectedFile } from '../protocol/job/job-result.js';

/** Empty if there is nothing to say. */
export function fileMarks({ ref, partial, unchanged, diff }: CollectedFile): string {
  const changed = diff?.outcome === 'no_changes' ? 'no changes' : 'unchanged';
  const marks = [...(ref !== null && partial ? ['partial'] : []), ...(unchanged ? [changed] : [])];
  return [marks.join(', '), ...(diff?.notes ?? [])].filter((text) => text !== '').join('. ');
}

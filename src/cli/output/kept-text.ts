/** What a stop kept, in words. */
import type { Kept } from '../../../workflows/job/types.js';

export const keptTexts: Readonly<Record<Kept, string>> = {
  saved: 'work saved',
  stale: 'only older work saved',
  none: 'nothing saved',
};

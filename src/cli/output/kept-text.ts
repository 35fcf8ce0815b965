/** Describes what a stop saved. */
import type { PreservedWork } from '../../../workflows/job/types.js';

export const keptTexts: Readonly<Record<PreservedWork, string>> = {
  saved: 'work saved',
  stale: 'only older work saved',
  none: 'nothing saved',
};

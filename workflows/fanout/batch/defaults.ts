/** Default intervals of a batch. Pure. */
import type { FanoutIntervals } from '../types.js';

export const defaultIntervals: FanoutIntervals = {
  reportEveryMs: 1_000,
  checkChunksEveryMs: 60_000,
  recoverEveryMs: 10_000,
  maxHistoryEvents: null,
  maxMessages: 1_500,
};

/**
 * What happens if a run is due while the last one has not ended: it is skipped; one, or all, wait for the end; the last
 * one is cancelled, and ends its machines first; or both run.
 */
export const scheduleOverlaps = ['skip', 'buffer-one', 'buffer-all', 'cancel-other', 'allow-all'] as const;
/** One of `scheduleOverlaps`. */
export type Overlap = (typeof scheduleOverlaps)[number];

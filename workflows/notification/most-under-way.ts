/** Temporal takes no more than 2,000 children at once, and the end is told even where nothing else is any more. */
export const mostUnderWay = { ended: 1_000, others: 500 };

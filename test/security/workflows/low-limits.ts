/** Replaces `workflows/shared/most-under-way.ts`. */
export const mostUnderWay = { ended: 4, others: 2 };

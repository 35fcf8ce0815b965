/** Replaces `workflows/notification/most-under-way.ts`. */
export const mostUnderWay = { ended: 4, others: 2 };

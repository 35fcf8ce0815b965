/**
 * Limits of a workflow's concurrent deliveries, because Temporal allows 2,000 children. Above the lower limit, only the
 * notification of the end is still sent.
 */
export const mostUnderWay = { ended: 1_000, others: 500 };

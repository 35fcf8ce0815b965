/**
 * Limits of a workflow's concurrent deliveries: Temporal allows 2,000 children. Once the lower limit is reached, only
 * the notification of the end is still sent.
 */
export const mostUnderWay = { ended: 1_000, others: 500 };

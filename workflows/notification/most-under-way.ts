/**
 * Limits of deliveries in progress: Temporal allows 2,000 children. The end is still notified when others are dropped.
 */
export const mostUnderWay = { ended: 1_000, others: 500 };

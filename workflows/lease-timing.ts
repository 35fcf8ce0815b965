/** How long leases on sandboxes last. Pure. */

/** A lease outlives its renewals by so much, in ms; a terminated job gives up none. */
export const leaseLastsMs = 30 * 60_000;
/** How often a lease is renewed, in ms. */
export const renewLeaseEveryMs = 10 * 60_000;
/** A renewal that failed is tried again after this, in ms. */
export const renewLeaseAgainMs = 15_000;

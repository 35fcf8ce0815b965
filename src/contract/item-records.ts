/**
 * What the runs of an item of a batch leave in the result store before they act, so that a later run knows what an
 * earlier one may have done. No dependencies: workflow code imports this file.
 */

/** @param prefix of the item's objects */
export function itemRecords(prefix: string) {
  return {
    /** That the key of a generation's fork was sent: see `activities/retry/recorded-call.ts`. */
    key: (generation: number) => `${prefix}/keys/${generation}.json`,
  } as const;
}

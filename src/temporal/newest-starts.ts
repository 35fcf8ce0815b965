/** Finds what started last in lists that Temporal sorts by other times: it begins with what runs or ended last. */

/** An entry of such a list. */
export interface Listed<Row> {
  /** ISO 8601 time. Neither this entry nor any after it in its list started later. */
  readonly notAfter: string;
  /** Undefined if the entry is not wanted. */
  readonly row: Row | undefined;
}

/**
 * Reads each list only as far as it may still hold one of the newest.
 * @returns at most `limit` rows, those that started last first
 */
export async function newestStarts<Row extends { readonly startedAt: string }>(
  lists: Iterable<AsyncIterable<Listed<Row>>>,
  limit: number,
): Promise<Row[]> {
  const newest: Row[] = [];
  for (const list of lists) {
    for await (const { notAfter, row } of list) {
      const oldest = newest[limit - 1];
      if (oldest && notAfter <= oldest.startedAt) break;
      if (!row) continue;
      newest.splice(newest.findLastIndex(({ startedAt }) => startedAt >= row.startedAt) + 1, 0, row);
      if (newest.length > limit) newest.pop();
    }
  }
  return newest;
}

/** Shows rows of lists that cannot be read here, for example because a key is missing. */
import type { UnreadableMemo } from '../../temporal/readable-memos.js';
import type { CliIo } from '../io.js';

const mostReasons = 3;

export function cellOf(text: string | null, unreadable: UnreadableMemo | null): string {
  return text ?? (unreadable ? `(cannot be read: ${unreadable.code})` : '');
}

/** Prints each reason once. */
export function sayUnreadable(
  rows: readonly { readonly unreadable: UnreadableMemo | null }[],
  { stderr }: Pick<CliIo, 'stderr'>,
): void {
  const reasons = [...new Set(rows.flatMap(({ unreadable }) => unreadable?.message ?? []))];
  for (const reason of reasons.slice(0, mostReasons)) stderr.write(`${reason}\n`);
  if (reasons.length > mostReasons) stderr.write(`There are ${reasons.length - mostReasons} more reasons.\n`);
}

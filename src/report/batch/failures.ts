/** Groups the items that failed by their reason. */
import { styleOf } from '../outcome-styles.js';
import type { PageItem } from '../page-data.js';

/** What is compared. An item without a message has an empty one. */
type Failed = Pick<PageItem, 'outcome' | 'error'>;

export interface FailureGroup<Item extends Failed = PageItem> {
  readonly outcome: string;
  /** The reason of the first item. */
  readonly message: string;
  /** False if the reasons differ in ids or numbers. */
  readonly isSame: boolean;
  readonly items: readonly Item[];
}

const noFailure: ReadonlySet<string> = new Set(['completed', 'cancelled', 'not_started']);

/** The groups, largest first. Reasons that differ only in ids and numbers are one group. */
export function failureGroups<Item extends Failed>(items: readonly Item[]): FailureGroup<Item>[] {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    if (noFailure.has(item.outcome)) continue;
    const key = `${item.outcome} ${withoutIds(item.error)}`;
    groups.set(key, [...(groups.get(key) ?? []), item]);
  }
  return [...groups.values()]
    .map((own): FailureGroup<Item> => {
      const { outcome = '', error = '' } = own[0] ?? {};
      const message = error === '' ? `It ended as ${styleOf(outcome).word}, without a message.` : error;
      return { outcome, message, isSame: own.every((item) => item.error === error), items: own };
    })
    .sort((a, b) => b.items.length - a.items.length);
}

function withoutIds(message: string): string {
  return message
    .replace(/\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/gi, '#')
    .replace(/\b[a-z]{2,8}_\w{4,}/gi, '#')
    .replace(/\d+/g, '#');
}

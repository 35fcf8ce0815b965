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

/** Items with these outcomes neither succeeded nor failed: the batch or a person ended them early. */
const undecided: ReadonlySet<string> = new Set(['cancelled', 'not_started']);

/** True if an item ended by itself, with a success or a failure. */
export function isDecided({ outcome }: Pick<PageItem, 'outcome'>): boolean {
  return !undecided.has(outcome);
}

/**
 * The groups, largest first. Reasons that differ only in ids and numbers are one group. A number that says how something
 * ended, such as an exit code, is no such number.
 */
export function failureGroups<Item extends Failed>(items: readonly Item[]): FailureGroup<Item>[] {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    if (item.outcome === 'completed' || !isDecided(item)) continue;
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

const numbers =
  /(\b(?:exit(?:ed|s)?|exit_?code|code|status|signal|http)(?:\W{1,3}(?:with|code|status|of|is|was)){0,3}\W{0,3})?\d+/gi;

function withoutIds(message: string): string {
  return message
    .replace(/\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/gi, '#')
    .replace(/\b(?!exit_)[a-z]{2,8}_\w{4,}/gi, '#')
    .replace(numbers, (number, ending?: string) => (ending === undefined ? '#' : number));
}

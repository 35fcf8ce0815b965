/**
 * Reads an answer as far as possible. A bad row of a list is left out and affects no other row. A field of a wrong type
 * is left out if callers do not need it. A malformed row of anybody's sandbox ended every follow of the account
 * (test/world/defects/D4.patch).
 */
import type { z } from 'zod';

export type LenientParse<T> =
  | {
      readonly read: T;
      /** Number of rows that were left out of the answer's own lists. */
      readonly rowsLeftOut: number;
      readonly problem?: undefined;
    }
  | { readonly read?: undefined; readonly rowsLeftOut?: undefined; readonly problem: Problem };

/** Why an answer cannot be read. Tells types and names, and no value. */
interface Problem {
  /** Path of the field; `body` for the whole. */
  readonly field: string;
  readonly what: string;
}

/** Maximum number of repairs. Rows may contain rows, but no answer of the service is nested more deeply than this. */
const roundsAtMost = 4;

/** @param answer parsed JSON; not changed */
export function lenientParse<T>(schema: z.ZodType<T>, answer: unknown): LenientParse<T> {
  const first = schema.safeParse(answer);
  if (first.success) return { read: first.data, rowsLeftOut: 0 };
  let { issues } = first.error;
  const problem = problemOf(answer, issues[0]);
  const repaired = structuredClone(answer);
  const left = new Set<string>();
  const rowsBefore = countRows(answer);
  for (let round = 0; round < roundsAtMost; round += 1) {
    if (!withoutBadParts(repaired, issues, left)) return { problem };
    const again = schema.safeParse(repaired);
    if (again.success) return { read: again.data, rowsLeftOut: rowsBefore - countRows(repaired) };
    issues = again.error.issues;
  }
  return { problem };
}

/** The most names of fields that a message quotes. */
const maxNames = 8;

function problemOf(answer: unknown, issue: z.core.$ZodIssue | undefined): Problem {
  const path = issue?.path ?? [];
  const field = path.map(String).join('.') || 'body';
  const found = at(answer, path);
  if (found !== undefined) {
    const wanted = issue?.code === 'invalid_type' ? `not ${withArticle(issue.expected)}` : 'of another form';
    return { field, what: `is ${withArticle(typeOf(found))}, ${wanted}` };
  }
  const holder = at(answer, path.slice(0, -1));
  const names = typeof holder === 'object' && holder !== null ? Object.entries(holder) : [];
  const shown = names.flatMap(([name, value]) => (/^\w{1,40}$/.test(name) ? [`\`${name}\` (${typeOf(value)})`] : []));
  const beside = shown.length === 0 ? '' : `, beside ${shown.slice(0, maxNames).join(', ')}`;
  return { field, what: `is missing${beside}` };
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

function withArticle(type: string): string {
  return type === 'null' ? type : `${/^[aeiou]/.test(type) ? 'an' : 'a'} ${type}`;
}

type Issue = Pick<z.core.$ZodIssue, 'path'>;
type Parts = Record<PropertyKey, unknown>;

/**
 * Removes the field of each issue. If the field was removed before, callers need it, and the row that contains it is
 * removed.
 * @param left paths of the fields that were removed before
 * @returns false if it can remove neither the fields nor the rows
 */
function withoutBadParts(answer: unknown, issues: readonly Issue[], left: Set<string>): boolean {
  const badRows = new Map<unknown[], Set<number>>();
  for (const { path } of issues) {
    const key = path.map(String).join('.');
    const holder = at(answer, path.slice(0, -1)) as Parts | undefined;
    const name = path.at(-1);
    const isField = holder !== undefined && !Array.isArray(holder) && name !== undefined && Object.hasOwn(holder, name);
    if (isField && !left.has(key)) {
      left.add(key);
      delete holder[name];
      continue;
    }
    const row = path.findLastIndex((part, index) => typeof part === 'number' && index > 0);
    const rows = row === -1 ? undefined : at(answer, path.slice(0, row));
    if (!Array.isArray(rows)) return false;
    badRows.set(rows, (badRows.get(rows) ?? new Set()).add(path[row] as number));
  }
  for (const [rows, bad] of badRows) {
    const good = rows.filter((_, index) => !bad.has(index));
    // A list may have more rows than a call may have arguments.
    rows.length = 0;
    for (const row of good) rows.push(row);
    // The remaining rows may have new indexes, so the paths of removed fields no longer hold.
    left.clear();
  }
  return true;
}

function countRows(answer: unknown): number {
  const lists = Object.values(answer ?? {}).filter((part) => Array.isArray(part));
  return lists.reduce((sum, { length }) => sum + length, 0);
}

export function at(answer: unknown, path: readonly PropertyKey[]): unknown {
  let value = answer;
  for (const part of path) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = (value as Parts)[part];
  }
  return value;
}

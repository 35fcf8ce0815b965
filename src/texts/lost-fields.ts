/**
 * Finds fields that a parser would silently drop, so that they can be refused. Fields of a user disappeared without a
 * word.
 */
import { jsonTokens } from './json-tokens.js';

/** The first name that occurs twice in one object, of which `JSON.parse` keeps the last. @param text valid JSON */
export function repeatedField(text: string): string | undefined {
  /** The names of each object that is open; null for a list. */
  const open: (Set<string> | null)[] = [];
  let expectsName = false;
  for (const token of jsonTokens(text)) {
    const names = open.at(-1);
    if (expectsName && names && token.startsWith('"')) {
      const name = JSON.parse(token) as string;
      if (names.has(name)) return name;
      names.add(name);
    }
    if (token === '{' || token === '[') open.push(token === '{' ? new Set() : null);
    else if (token === '}' || token === ']') open.pop();
    expectsName = token === '{' || (token === ',' && open.at(-1) != null);
  }
  return undefined;
}

/** Finds fields that a parser would silently drop, so that they can be refused. */
import { jsonTokens } from './json-tokens.js';

/** Assigning to it sets a prototype, and zod skips it. */
const lostName = '__proto__';

/** The paths of all fields named `__proto__`, at any depth. Follows no cycle. */
export function lostFields(value: unknown): (readonly PropertyKey[])[] {
  const found: (readonly PropertyKey[])[] = [];
  const seen = new Set<object>();
  const open: { readonly at: object; readonly path: readonly PropertyKey[] }[] = [];
  const look = (part: unknown, path: readonly PropertyKey[]) => {
    if (typeof part !== 'object' || part === null || ArrayBuffer.isView(part) || seen.has(part)) return;
    seen.add(part);
    open.push({ at: part, path });
  };
  look(value, []);
  for (let next = open.pop(); next; next = open.pop()) {
    const { at, path } = next;
    if (Object.hasOwn(at, lostName)) found.push([...path, lostName]);
    for (const [name, part] of Object.entries(at)) look(part, [...path, Array.isArray(at) ? Number(name) : name]);
  }
  return found;
}

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

/** Finds fields that a parser would silently drop, so that they can be refused. */

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

/**
 * The first name that occurs twice in one object of a JSON text, of which `JSON.parse` keeps the last. @param text
 * valid JSON
 */
export function repeatedField(text: string): string | undefined {
  /** The names of each object that is open; null for a list. */
  const open: (Set<string> | null)[] = [];
  let expectsName = false;
  for (let at = 0; at < text.length; at += 1) {
    const letter = text[at];
    if (letter === '"') {
      const end = endOfString(text, at);
      const names = open.at(-1);
      if (expectsName && names) {
        const name = JSON.parse(text.slice(at, end + 1)) as string;
        if (names.has(name)) return name;
        names.add(name);
        expectsName = false;
      }
      at = end;
    } else if (letter === '{' || letter === '[') {
      open.push(letter === '{' ? new Set() : null);
      expectsName = letter === '{';
    } else if (letter === '}' || letter === ']') {
      open.pop();
      expectsName = false;
    } else if (letter === ',') {
      expectsName = open.at(-1) != null;
    }
  }
  return undefined;
}

/** The place of the closing quotation mark. */
function endOfString(text: string, begin: number): number {
  for (let at = begin + 1; ; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === '"' || at >= text.length) return at;
  }
}

/** Remembers texts, for callers that may ask again. Forgets all before there are more than `most`. */
export function createKnownTexts(most: number) {
  const known = new Set<string>();
  return {
    has: (text: string) => known.has(text),
    add(text: string): void {
      if (known.size >= most) known.clear();
      known.add(text);
    },
  };
}

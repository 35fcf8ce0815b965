/** How text of others gets into HTML without ever becoming markup. */

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Markup that was made here. Everything that is not one of these is escaped. */
export class Markup {
  readonly html: string;
  constructor(html: string) {
    this.html = html;
  }
}

type Piece = Markup | string | number | null | readonly Piece[];

/** A template whose values are escaped, in text and in quoted attributes alike; markup and lists of it go in as they are. */
export function html(strings: TemplateStringsArray, ...values: readonly Piece[]): Markup {
  return new Markup(strings.map((text, at) => text + (at < values.length ? written(values[at] ?? null) : '')).join(''));
}

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? '');
}

/**
 * JSON that can stand in a script element: `<` would end it or open a comment, and the two line ends of Unicode are none in
 * JSON and were some in scripts.
 */
export function jsonForScript(value: unknown): string {
  return JSON.stringify(value).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function written(piece: Piece): string {
  if (piece === null) return '';
  if (piece instanceof Markup) return piece.html;
  if (typeof piece === 'object') return piece.map(written).join('');
  return escapeHtml(String(piece));
}

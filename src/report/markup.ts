/** Inserts text that others wrote into HTML, and never lets it become markup. */

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Markup that sandflow itself created. Every other value is escaped. */
export class Markup {
  readonly html: string;
  constructor(html: string) {
    this.html = html;
  }
}

type Piece = Markup | string | number | null | readonly Piece[];

/**
 * A template that escapes its values, in text and in quoted attributes. `Markup` and lists of it are inserted
 * unchanged.
 */
export function html(strings: TemplateStringsArray, ...values: readonly Piece[]): Markup {
  return new Markup(strings.map((text, at) => text + (at < values.length ? written(values[at] ?? null) : '')).join(''));
}

/** A link to another page, which learns nothing about this one. @param url an address of the web */
export function link(url: string, text: string): Markup {
  return html`<a href="${url}" target="_blank" rel="noopener noreferrer">${text}</a>`;
}

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? '');
}

/**
 * Escapes JSON for a script element. `<` could end the element or open a comment. JSON allows U+2028 and U+2029 in
 * strings, but older versions of JavaScript treat them as line ends.
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

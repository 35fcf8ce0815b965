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

/** Addresses of the web, places in the page, and files beside the page. No scheme such as `javascript:` is among them. */
const linked = /^(?:https?:\/\/|#|[\w.~%-]+\/)/i;

/** A link to another page, which learns nothing about this one. Without a link if `target` is none of `linked`. */
export function link(target: string, text: string): Markup {
  const name = html`<bdi>${text}</bdi>`;
  return linked.test(target) ? html`<a href="${target}" rel="noopener noreferrer">${name}</a>` : name;
}

/** A part of an address. Half of a surrogate pair, which no address can have, is written as the name of a file has it. */
export function addressPart(text: string): string {
  return encodeURIComponent(Buffer.from(text).toString());
}

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? '');
}

function written(piece: Piece): string {
  if (piece === null) return '';
  if (piece instanceof Markup) return piece.html;
  if (typeof piece === 'object') return piece.map(written).join('');
  return escapeHtml(String(piece));
}

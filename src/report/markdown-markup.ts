/** Renders Markdown that an agent wrote as escaped markup. */
import { type MarkdownNode, parseMarkdown } from './browser/markdown/markdown.js';
import { html, Markup } from './markup.js';

/** Every tag that the parser creates. No other name becomes a tag. */
const tags: ReadonlySet<string> = new Set(
  'h4 h5 h6 p br hr pre code blockquote ul ol li table thead tbody tr th td strong em del a'.split(' '),
);
const empty: ReadonlySet<string> = new Set(['br', 'hr']);

/** HTML in the text is shown as text, and the result loads no other resource. Links open another page. */
export function markdownMarkup(text: string): Markup {
  return html`<div class="markdown" dir="auto">${parseMarkdown(text).map(asMarkup)}</div>`;
}

function asMarkup(node: MarkdownNode): Markup | string {
  if (typeof node === 'string') return node;
  const { tag, href, children } = node;
  const inner = children.map(asMarkup);
  if (!tags.has(tag)) return html`${inner}`;
  const link =
    href === undefined ? null : html` href="${href}" title="${href}" target="_blank" rel="noopener noreferrer"`;
  const [open, close] = [new Markup(`<${tag}`), new Markup(empty.has(tag) ? '>' : `</${tag}>`)];
  return empty.has(tag) ? html`${open}${close}` : html`${open}${link}>${inner}${close}`;
}

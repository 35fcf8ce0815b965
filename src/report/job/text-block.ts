/** A text of any length in a page, and a note if it was cut. */
import { cutText } from '../cut-text.js';
import { countText } from '../format.js';
import { html, type Markup } from '../markup.js';
import { plainText } from '../plain-text.js';

interface TextBlockOptions {
  /** A further class of the element. */
  readonly name?: string;
  /** Where the result store has the whole text. */
  readonly ref?: string | null;
}

/** @param limit in bytes */
export function textBlock(text: string, limit: number, { name = '', ref = null }: TextBlockOptions = {}): Markup {
  const { text: shown, cut } = cutText(plainText(text), limit);
  return html`<pre class="text ${name}" dir="auto" tabindex="0">${shown}</pre>${cut > 0 ? cutNote(cut, ref) : null}`;
}

function cutNote(cut: number, ref: string | null): Markup {
  const where = ref === null ? '' : ` The whole text is in the result store: ${ref}`;
  return html`<p class="note cut">… ${countText(cut)} more characters are not in this report.${where}</p>`;
}

/** Limits the texts in the page, so that a browser opens it quickly. */
import { cut } from '../texts/length.js';
import { html, type Markup } from './markup.js';
import { countText } from './numbers.js';
import { plainText } from './plain-text.js';

/** Limit of one text in the page, in characters. */
export const maxTextLength = 20_000;
/** Limits of the details of one kind of items: how many items have any, and the bytes of all their texts. */
export const maxDetailedItems = 1_000;
export const maxDetailsBytes = 12_000_000;

const maxLineLength = 200;
/** The largest number of characters of a text that are read to find the part that is shown. */
const maxReadLength = 4 * maxTextLength;

/** The beginning of a text in one line. */
export function lineOf(text: string): string {
  const whole = plainText(text.slice(0, 2 * maxLineLength))
    .replace(/\s+/g, ' ')
    .trim();
  const isRead = text.length <= 2 * maxLineLength;
  return cut(isRead ? whole : `${whole}…`, maxLineLength);
}

/** The room for the details of one kind of items. */
export type Room = ReturnType<typeof createRoom>;

export function createRoom() {
  let items = maxDetailedItems;
  let bytes = maxDetailsBytes;
  return {
    /** @returns false if there is no room for a further item */
    takeItem(): boolean {
      if (items === 0 || bytes <= 0) return false;
      items -= 1;
      return true;
    },
    /** A text that somebody else wrote, with its lines. What does not fit is counted. */
    block(text: string): Markup {
      const whole = plainText(text.slice(0, maxReadLength));
      const shown = bytes > 0 ? cut(whole, maxTextLength) : '';
      const more = whole.length - shown.length + Math.max(0, text.length - maxReadLength);
      const note =
        more > 0 ? html`<p class="note">… ${countText(more)} more characters are not in this report.</p>` : null;
      const block = html`<pre dir="auto">${shown}</pre>${note}`;
      bytes -= Buffer.byteLength(block.html);
      return block;
    },
  };
}

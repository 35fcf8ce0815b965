/** Limits the texts in the page, so that a browser opens it quickly. */
import { html, type Markup } from './markup.js';
import { countText } from './numbers.js';
import { plainText } from './plain-text.js';

/** Limit of one text in the page, in bytes. */
export const maxTextBytes = 20_000;
/** Limits of the details of one kind of items: how many items have any, and the bytes of all their texts. */
export const maxDetailedItems = 1_000;
export const maxDetailsBytes = 12_000_000;

const maxLineBytes = 200;
/** The largest number of characters of a text that are read to find the part that is shown. */
const maxReadLength = 4 * maxTextBytes;
/** Markup around a text, in bytes. */
const aroundText = 200;

/** Number of bytes that a code unit takes in the page. A surrogate counts as two bytes, a pair of them as four. */
function bytesOf(unit: number): number {
  if (unit === 0x22) return 6;
  if (unit === 0x26 || unit === 0x27) return 5;
  if (unit === 0x3c || unit === 0x3e) return 4;
  if (unit < 0x80) return 1;
  return unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff) ? 2 : 3;
}

/** Cuts `text` so that it takes at most `limit` bytes in the page. No character is cut in two. */
export function cutText(text: string, limit: number): { readonly text: string; readonly bytes: number } {
  let bytes = 0;
  let end = 0;
  while (end < text.length) {
    const next = bytes + bytesOf(text.charCodeAt(end));
    if (next > limit) break;
    bytes = next;
    end += 1;
  }
  if (end < text.length && end > 0 && (text.charCodeAt(end - 1) & 0xfc00) === 0xd800) end -= 1;
  return { text: text.slice(0, end), bytes };
}

/** The beginning of a text in one line. */
export function lineOf(text: string): string {
  const whole = plainText(text.slice(0, 2 * maxLineBytes))
    .replace(/\s+/g, ' ')
    .trim();
  const { text: short } = cutText(whole, maxLineBytes);
  return short.length < whole.length || text.length > 2 * maxLineBytes ? `${short}…` : short;
}

/** The room for the details of one kind of items. */
export interface Room {
  /** @returns false if there is no room for a further item */
  takeItem(): boolean;
  /** A text that somebody else wrote, with its lines. What does not fit is counted. */
  block(text: string): Markup;
}

export function createRoom(): Room {
  let items = maxDetailedItems;
  let bytes = maxDetailsBytes;
  return {
    takeItem() {
      if (items === 0 || bytes <= 0) return false;
      items -= 1;
      return true;
    },
    block(text) {
      const whole = plainText(text.slice(0, maxReadLength));
      const shown = cutText(whole, Math.max(0, Math.min(maxTextBytes, bytes)));
      bytes -= shown.bytes + aroundText;
      const cut = whole.length - shown.text.length + Math.max(0, text.length - maxReadLength);
      const note =
        cut > 0 ? html`<p class="note">… ${countText(cut)} more characters are not in this report.</p>` : null;
      return html`<pre dir="auto">${shown.text}</pre>${note}`;
    },
  };
}

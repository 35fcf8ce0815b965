/** Cuts a stream of text into pieces of whole lines. */
import { MAX_EVENT_BYTES } from './bounded-text.js';

export interface LineBatches {
  push(text: string): void;
  /** Gives what is left, also half a line. */
  end(): void;
}

/** A line that is longer than an event may be is cut. `give` never gets an empty text. */
export function createLineBatches(give: (text: string) => void): LineBatches {
  let rest = '';
  const giveText = (text: string): void => {
    if (text.trim() !== '') give(text);
  };
  return {
    push(text) {
      rest += text;
      const end = rest.lastIndexOf('\n');
      if (end >= 0) {
        giveText(rest.slice(0, end));
        rest = rest.slice(end + 1);
      }
      while (rest.length > MAX_EVENT_BYTES) {
        giveText(rest.slice(0, MAX_EVENT_BYTES));
        rest = rest.slice(MAX_EVENT_BYTES);
      }
    },
    end() {
      giveText(rest);
      rest = '';
    },
  };
}

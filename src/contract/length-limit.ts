/** The most characters of JSON that all pages of a list may have together: each page is bounded, and their number is large. */
const maxLength = 128 * 1024 * 1024;

export interface LengthLimit {
  /** Counts a page. False once the pages are too long together. */
  takes(page: unknown): boolean;
}

export function createLengthLimit(): LengthLimit {
  let length = 0;
  return {
    takes(page) {
      length += JSON.stringify(page).length;
      return length <= maxLength;
    },
  };
}

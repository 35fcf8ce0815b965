/** The most characters of JSON in all pages of a list together. Each page is bounded, but there may be many pages. */
const maxLength = 128 * 1024 * 1024;

export interface LengthLimit {
  /** Counts a page. Returns false once the pages together are too long. */
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

/** Maximum size of all pages of a list together, in bytes. Each page is bounded, but there may be many pages. */
export const maxListBytes = 128 * 1024 * 1024;

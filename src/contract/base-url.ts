/** Base URLs, to which paths are added. */

/** In one pass: an expression such as `/\/+$/` looks at each slash again from each slash before it. */
export function withoutEndSlashes(url: string): string {
  let end = url.length;
  while (url[end - 1] === '/') end -= 1;
  return url.slice(0, end);
}

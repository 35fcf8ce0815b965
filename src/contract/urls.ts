/** Normalises base URLs and folders, and recognises hosts that are this machine. */

/** Works in one pass, because an expression such as `/\/+$/` takes quadratic time if there are many slashes. */
export function withoutEndSlashes(url: string): string {
  let end = url.length;
  while (url[end - 1] === '/') end -= 1;
  return url.slice(0, end);
}

/** @param hostname as `URL` gives it: lower case, IPv6 in brackets, IPv4 in four decimal numbers */
export function isLoopbackHost(hostname: string): boolean {
  const host = hostname.replace(/\.$/, '');
  return host === 'localhost' || host.endsWith('.localhost') || host === '[::1]' || /^127(\.\d{1,3}){3}$/.test(host);
}

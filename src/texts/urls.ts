/** Checks and normalises the addresses of servers, and recognises hosts that are this machine. */

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

/** Says what is wrong with the base URL of a server, without quoting it; undefined if it can be shown and appended to. */
export function serverUrlProblem(text: string): string | undefined {
  if (!URL.canParse(text)) return 'is not a URL like https://api.example.com/v1';
  const { protocol, username, password, search, hash } = new URL(text);
  if (protocol !== 'https:' && protocol !== 'http:') return 'must begin with https:// or http://';
  const isPlain = username === '' && password === '' && search === '' && hash === '';
  return isPlain ? undefined : 'must not hold a user name, a password, a query or a fragment';
}

/**
 * Says what is wrong with an address of Temporal, without quoting it; undefined if it is fine. Temporal's clients take a
 * host and perhaps a port. The one of the worker would also take a user name, and put it into its errors.
 */
export function temporalAddressProblem(address: string): string | undefined {
  const parts = /^(?:\[[0-9a-f:.]+\]|[\p{L}\p{N}._-]+)(?::(\d{1,5}))?$/iu.exec(address);
  const port = Number(parts?.[1] ?? 7233);
  if (parts && port > 0 && port <= 65_535) return undefined;
  return 'must be host:port, like temporal.example.com:7233, without a scheme, a user name, a password, a path or a query';
}

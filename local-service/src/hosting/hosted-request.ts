/** The parts of a request to a hosted URL that concern the service, and the request as the sandbox gets it. */
import type { IncomingMessage } from 'node:http';

export const tokenName = '_token';
/** They concern one connection only, or trailers, which are not passed. */
const connectionHeaders: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authenticate',
  'proxy-authorization',
  'trailer',
  'upgrade',
]);

/** The tokens of the query and of the cookie. */
export function tokensOf({ url = '/', headers }: IncomingMessage): string[] {
  const inQuery = queryOf(url).filter(isToken).map(tokenIn);
  return [...inQuery, ...cookiesOf(headers.cookie).filter(isToken).map(tokenIn)];
}

export const hasTokenInQuery = ({ url = '/' }: IncomingMessage): boolean => queryOf(url).some(isToken);

const absoluteForm = /^https?:\/\/[^/?#]*/i;

/** The path and query without the token. A client that takes the service for a proxy sends the whole address. */
export function pathWithoutToken({ url = '/' }: IncomingMessage): string {
  // A path that begins with two slashes would be another host in a redirect.
  const path = (url.replace(absoluteForm, '/').split('?')[0] ?? '').replace(/^[^/]*\/[/\\]*/, '/');
  const query = queryOf(url).filter((pair) => !isToken(pair));
  return query.length === 0 ? path : `${path}?${query.join('&')}`;
}

/** Names and values in turn, without the token and without what concerns only this connection. */
export function headersForSandbox({ rawHeaders }: IncomingMessage): string[] {
  return pairsOf(rawHeaders).flatMap(([name, value]) => {
    if (connectionHeaders.has(name.toLowerCase())) return [];
    if (name.toLowerCase() === 'referer') return [name, value.replace(tokenInUrl, '$1')];
    if (name.toLowerCase() !== 'cookie') return [name, value];
    const kept = cookiesOf(value).filter((cookie) => !isToken(cookie));
    return kept.length === 0 ? [] : [name, kept.join('; ')];
  });
}

/** Names and values in turn, without what concerns only one connection. */
export function headersToPass({ rawHeaders }: IncomingMessage): string[] {
  return pairsOf(rawHeaders).flatMap((pair) => (connectionHeaders.has(pair[0].toLowerCase()) ? [] : pair));
}

export function pairsOf(rawHeaders: readonly string[]): [name: string, value: string][] {
  const pairs: [string, string][] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) pairs.push([rawHeaders[at] ?? '', rawHeaders[at + 1] ?? '']);
  return pairs;
}

const queryOf = (url: string): string[] =>
  url.includes('?')
    ? url
        .slice(url.indexOf('?') + 1)
        .split('&')
        .filter((pair) => pair !== '')
    : [];
const cookiesOf = (header = ''): string[] => header.split(/;[ \t]*/).filter((cookie) => cookie !== '');
const tokenInUrl = /([?&])_token=[^&#]*&?/g;
const isToken = (pair: string): boolean => pair.startsWith(`${tokenName}=`);
const tokenIn = (pair: string): string => pair.slice(tokenName.length + 1);

/** Builds the address of a request, which is always below the base URL and never on another host. */

import { SandflowError } from '../errors/sandflow-error.js';
import { isLoopbackHost, serverUrlProblem, withoutEndSlashes } from '../texts/urls.js';
import type { CallName, Query } from './call-options.js';

/** @throws SandflowError `bad_configuration` if the base URL is invalid or would send the key in plain text */
export function readBaseUrl(
  baseUrl: string,
  allowHttp = false,
): { readonly origin: string; readonly basePath: string } {
  const problem = serverUrlProblem(baseUrl);
  if (problem) throw new SandflowError('bad_configuration', `The base URL of the service ${problem}.`);
  const url = new URL(baseUrl);
  if (url.protocol === 'http:' && !allowHttp && !isLoopbackHost(url.hostname)) {
    const message = `The base URL of the service uses http:// to another machine (${url.hostname}), which would send the key unencrypted. Use https://, or set allowHttp.`;
    throw new SandflowError('bad_configuration', message);
  }
  return { origin: url.origin, basePath: withoutEndSlashes(url.pathname) };
}

/**
 * Refuses an id that is empty or a dot segment. It would address another resource, such as `DELETE /sandboxes/`.
 * @throws SandflowError `bad_argument`
 */
export function checkPath(name: CallName, path: string): void {
  const segments = path.split('?')[0] ?? '';
  if (!/\/(?:\.|%2e){0,2}(?:\/|$)/i.test(segments)) return;
  throw new SandflowError('bad_argument', `${name}: an id is empty or invalid.`);
}

/** Returns `?name=value&…`, or an empty string if there are no values. Undefined values are left out. */
export function queryString(query: Query | undefined): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) if (value !== undefined) search.set(name, String(value));
  return search.size === 0 ? '' : `?${search}`;
}

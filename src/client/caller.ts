/** Makes the one call behind every method: address, headers and body in, parsed answer or typed error out. */
import { type Dispatcher, Pool } from 'undici';
import { type EndpointName, endpoints, type ResponseOf } from '../contract/endpoints.js';
import { confirmDeleteHeader, idempotencyKeyHeader } from '../contract/requests.js';
import { SandflowError } from '../contract/sandflow-error.js';
import { type ExchangeResponse, exchange } from './exchange.js';
import { readFailure, readSuccess } from './read-response.js';
import type { CallRecord, CreateOptions } from './sandbox-client.js';
import { stableJson } from './stable-json.js';

export interface CallerOptions {
  readonly baseUrl: string;
  readonly apiKey: string | (() => string | Promise<string>);
  readonly timeoutMs: number;
  readonly connections: number;
  readonly onCall?: (record: CallRecord) => void;
  readonly dispatcher?: Dispatcher;
}

/** The parts of a request that differ between calls of one endpoint. */
export interface CallParts {
  /** Path with its parameters filled in, relative to the base URL. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly body?: object;
  /** Id for the header that confirms a delete. */
  readonly confirmDelete?: string;
}

export interface Caller {
  call<Name extends EndpointName>(endpoint: Name, parts: CallParts, options?: CreateOptions): Promise<ResponseOf<Name>>;
  close(): Promise<void>;
}

export function createCaller(given: CallerOptions): Caller {
  const { origin, basePath } = readBaseUrl(given.baseUrl);
  const pool = given.dispatcher ?? new Pool(origin, { connections: given.connections, pipelining: 1, allowH2: false });

  async function send(endpoint: EndpointName, parts: CallParts, options: CreateOptions, key: string) {
    const headers: Record<string, string> = { accept: 'application/json', authorization: `Bearer ${key}` };
    if (parts.body) headers['content-type'] = 'application/json';
    if (parts.confirmDelete) headers[confirmDeleteHeader] = parts.confirmDelete;
    if (options.idempotencyKey) headers[idempotencyKeyHeader] = options.idempotencyKey;
    return exchange(pool, {
      endpoint,
      origin,
      method: endpoints[endpoint].method,
      path: `${basePath}${parts.path}${queryString(parts.query)}`,
      headers,
      body: parts.body ? stableJson(parts.body) : null,
      timeoutMs: options.timeoutMs ?? given.timeoutMs,
      signal: options.signal,
    });
  }

  async function call<Name extends EndpointName>(endpoint: Name, parts: CallParts, options: CreateOptions = {}) {
    const startedAt = Date.now();
    const start = performance.now();
    let response: ExchangeResponse | undefined;
    let failure: unknown;
    try {
      checkPath(endpoint, parts.path);
      options.signal?.throwIfAborted();
      const key = usableKey(typeof given.apiKey === 'string' ? given.apiKey : await given.apiKey());
      response = await send(endpoint, parts, options, key);
      if (response.status < 200 || response.status >= 300) throw readFailure(endpoint, response, key);
      return readSuccess(endpoint, response);
    } catch (error) {
      failure = error;
      throw error;
    } finally {
      report({
        endpoint,
        startedAt,
        durationMs: performance.now() - start,
        status: response?.status ?? null,
        errorCode: failure === undefined ? null : codeOf(failure, options.signal),
        requestId: requestIdOf(failure),
      });
    }
  }

  function report(record: CallRecord) {
    try {
      given.onCall?.(record);
    } catch (error) {
      // A mistake in somebody's metrics must not lose the answer of a call that took effect.
      process.emitWarning(`onCall of the sandbox client threw: ${error instanceof Error ? error.message : 'no error'}`);
    }
  }

  let closed: Promise<void> | undefined;
  const close = () => {
    closed ??= pool.close();
    return closed;
  };
  return { call, close };
}

function readBaseUrl(baseUrl: string): { origin: string; basePath: string } {
  if (!URL.canParse(baseUrl)) throw new SandflowError('bad_configuration', 'The base URL of the service is not a URL.');
  const url = new URL(baseUrl);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw new SandflowError('bad_configuration', 'The base URL of the service must begin with https:// or http://.');
  }
  return { origin: url.origin, basePath: url.pathname.replace(/\/+$/, '') };
}

/** An id that is empty or a dot segment would address another resource: `DELETE /sandboxes/` for one. */
function checkPath(endpoint: EndpointName, path: string): void {
  if (!/\/\.{0,2}(?:\/|$)/.test(path)) return;
  throw new SandflowError('bad_argument', `${endpoint}: an id is empty or no id at all.`);
}

function usableKey(key: string): string {
  const trimmed = key.trim();
  if (/^[\x21-\x7e]+$/.test(trimmed)) return trimmed;
  throw new SandflowError('bad_api_key', 'The API key is empty or holds characters that no key has. Set it again.');
}

function queryString(query: CallParts['query']): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) if (value !== undefined) search.set(name, String(value));
  return search.size === 0 ? '' : `?${search}`;
}

function codeOf(failure: unknown, signal: AbortSignal | undefined): string {
  if (failure instanceof SandflowError) return failure.code;
  return signal?.aborted ? 'aborted' : 'unknown';
}

function requestIdOf(failure: unknown): string | null {
  return failure instanceof Error && 'requestId' in failure && typeof failure.requestId === 'string'
    ? failure.requestId
    : null;
}

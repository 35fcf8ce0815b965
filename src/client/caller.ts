/** The call behind every method: address, headers and body in; parsed response or typed error out. */
import { finished } from 'node:stream';
import { type Dispatcher, Pool } from 'undici';
import { type EndpointName, endpoints, type RawEndpointName, type ResponseOf } from '../contract/endpoints.js';
import { confirmDeleteHeader, idempotencyKeyHeader } from '../contract/requests.js';
import { SandflowError } from '../contract/sandflow-error.js';
import type { CallName, CallRecord, CreateOptions, StreamOptions } from './call-options.js';
import { startRecord } from './call-record.js';
import { type ExchangeRequest, type ExchangeResponse, exchange } from './exchange.js';
import type { PlainRequest, PlainResponse } from './plain-request.js';
import { readFailure, readSuccess } from './read-response.js';
import { readWhole } from './read-whole.js';
import { checkPath, type Query, queryString, readBaseUrl } from './request-address.js';
import { stableJson } from './stable-json.js';
import { type StreamResponse, streamExchange } from './stream-exchange.js';

export interface CallerOptions {
  readonly baseUrl: string;
  readonly allowHttp?: boolean;
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
  readonly query?: Query;
  readonly body?: object;
  /** Id for the header that confirms a delete. */
  readonly confirmDelete?: string;
}

/** Calls an endpoint and reads its JSON. */
export type Call = <Name extends Exclude<EndpointName, RawEndpointName>>(
  endpoint: Name,
  parts: CallParts,
  options?: CreateOptions,
) => Promise<ResponseOf<Name>>;

/** Calls an endpoint that answers bytes; whatever is no success is thrown before the first of them. */
export type Open = (endpoint: RawEndpointName, parts: CallParts, options?: StreamOptions) => Promise<StreamResponse>;

export interface Caller {
  readonly call: Call;
  readonly open: Open;
  readonly request: (request: PlainRequest, options?: StreamOptions) => Promise<PlainResponse>;
  close(): Promise<void>;
}

type Sent = Pick<ExchangeRequest, 'method' | 'headers' | 'body'> & { readonly parts: CallParts };

export function createCaller(given: CallerOptions): Caller {
  const { origin, basePath } = readBaseUrl(given.baseUrl, given.allowHttp);
  const { onCall } = given;
  const pool = given.dispatcher ?? new Pool(origin, { connections: given.connections, pipelining: 1, allowH2: false });

  /** Checks the request, then gets the key: an invalid request is never sent. */
  async function prepare(endpoint: CallName, sent: Sent, options: StreamOptions) {
    checkPath(endpoint, sent.parts.path);
    options.signal?.throwIfAborted();
    const key = usableKey(typeof given.apiKey === 'string' ? given.apiKey : await given.apiKey());
    const headers: Record<string, string> = { ...sent.headers, authorization: `Bearer ${key}` };
    if (sent.body !== null) headers['content-type'] = 'application/json';
    if (sent.parts.confirmDelete) headers[confirmDeleteHeader] = sent.parts.confirmDelete;
    const request: ExchangeRequest = {
      endpoint,
      origin,
      method: sent.method,
      path: `${basePath}${sent.parts.path}${queryString(sent.parts.query)}`,
      headers,
      body: sent.body,
      timeoutMs: options.timeoutMs ?? given.timeoutMs,
      signal: options.signal,
    };
    return { request, key };
  }

  const call: Call = async (endpoint, parts, options = {}) => {
    const record = startRecord(endpoint, { signal: options.signal, onCall });
    let response: ExchangeResponse | undefined;
    try {
      const headers: Record<string, string> = { accept: 'application/json' };
      if (options.idempotencyKey) headers[idempotencyKeyHeader] = options.idempotencyKey;
      const body = parts.body ? stableJson(parts.body) : null;
      const sent = { method: endpoints[endpoint].method, headers, body, parts };
      const { request, key } = await prepare(endpoint, sent, options);
      response = await exchange(pool, request);
      if (response.status < 200 || response.status >= 300) throw readFailure(endpoint, response, key);
      const answer = readSuccess(endpoint, { path: parts.path, onRowsLeftOut: options.onRowsLeftOut }, response);
      record.end(response.status);
      return answer;
    } catch (error) {
      record.end(response?.status ?? null, error);
      throw error;
    }
  };

  const open: Open = async (endpoint, parts, options = {}) => {
    const record = startRecord(endpoint, { signal: options.signal, onCall });
    let status: number | null = null;
    try {
      const sent = { method: endpoints[endpoint].method, headers: { accept: '*/*' }, body: null, parts };
      const { request, key } = await prepare(endpoint, sent, options);
      const response = await streamExchange(pool, request);
      status = response.status;
      if (status < 200 || status >= 300) {
        throw readFailure(endpoint, { ...response, body: await readWhole(response.body) }, key);
      }
      finished(response.body, (error) => record.end(response.status, error ?? undefined));
      return response;
    } catch (error) {
      record.end(status, error);
      throw error;
    }
  };

  const request: Caller['request'] = async (plain, options = {}) => {
    const name: CallName = `${plain.method} ${plain.path}`;
    const record = startRecord(name, { signal: options.signal, onCall });
    try {
      const { method, path, query, confirmDelete } = plain;
      const parts = { path, query, confirmDelete };
      const sent = { method, headers: { accept: '*/*' }, body: plain.body ?? null, parts };
      const response = await streamExchange(pool, (await prepare(name, sent, options)).request);
      finished(response.body, (error) => record.end(response.status, error ?? undefined));
      return response;
    } catch (error) {
      record.end(null, error);
      throw error;
    }
  };

  let closed: Promise<void> | undefined;
  const close = () => {
    closed ??= pool.close();
    return closed;
  };
  return { call, open, request, close };
}

function usableKey(key: string): string {
  const trimmed = key.trim();
  if (/^[\x21-\x7e]+$/.test(trimmed)) return trimmed;
  throw new SandflowError('bad_api_key', 'The API key is empty or holds characters that no key has. Set it again.');
}

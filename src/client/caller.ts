/** Makes the call of every method: sends the request, then returns a parsed response or throws a typed error. */
import { finished } from 'node:stream';
import type { Dispatcher, Pool } from 'undici';
import {
  type EndpointName,
  endpoints,
  type PathParameters,
  pathOf,
  type RawEndpointName,
  type ResponseOf,
} from '../contract/endpoints/endpoints.js';
import { confirmHeaderIn } from '../contract/request-form.js';
import { idempotencyKeyHeader } from '../contract/requests/sandbox-requests.js';
import { SandflowError } from '../errors/sandflow-error.js';
import { headerSecret } from '../secrecy/known-secrets.js';
import { stableJson } from '../texts/stable-json.js';
import { isLoopbackHost } from '../texts/urls.js';
import { traceHeaders } from '../tracing/trace-context.js';
import type {
  CallName,
  CallRecord,
  CreateOptions,
  ListAllOptions,
  PlainRequest,
  PlainResponse,
  Query,
  SandboxClientOptions,
  StreamOptions,
} from './call-options.js';
import { type ExchangeRequest, type ExchangeResponse, exchange, streamExchange } from './exchange.js';
import { packageVersion } from './package-version.js';
import { listOf, readList } from './pages.js';
import { readFailure, readSuccess, readWhole } from './read-response.js';
import { checkPath, queryString, readBaseUrl } from './request-address.js';
import { bodyIn, idempotencyKeyIn, requireForm } from './request-form.js';

/** The parameters of an endpoint's path, and the other parts of a request that differ between its calls. */
type CallParts<Name extends EndpointName> = Readonly<Record<PathParameters<Name>, string>> & {
  readonly query?: Query;
  readonly body?: object;
  /** Id for the header that confirms a delete. */
  readonly confirmDelete?: string;
  /** True to read all pages of a list, although its query has a `limit`. */
  readonly whole?: boolean;
  /** Of a list whose rows have ids. */
  readonly isWanted?: ListAllOptions['isWanted'];
};

/** Calls an endpoint and reads its JSON: of a list, all pages, or those up to its `limit`. */
export type Call = <Name extends Exclude<EndpointName, RawEndpointName>>(
  endpoint: Name,
  parts: CallParts<Name>,
  options?: CreateOptions,
) => Promise<ResponseOf<Name>>;

/** Calls an endpoint whose answer is bytes. If the call fails, throws before the first byte. */
export type Open = <Name extends RawEndpointName>(
  endpoint: Name,
  parts: CallParts<Name>,
  options?: StreamOptions,
) => Promise<PlainResponse>;

type Sent = Pick<ExchangeRequest, 'method' | 'path' | 'headers' | 'body'> &
  Pick<PlainRequest, 'query' | 'confirmDelete'>;

/**
 * No proxy leads to this machine, whatever the environment says. Loads undici only now: it costs more than the rest of
 * the client, and many a command makes no call.
 */
async function dispatcherTo(origin: string, options: Pool.Options): Promise<Dispatcher> {
  const undici = await import('undici');
  if (isLoopbackHost(new URL(origin).hostname)) return new undici.Pool(origin, options);
  // For one connection, undici would take a client that reports a connection closed by the server as a failed call.
  return new undici.EnvHttpProxyAgent({
    ...options,
    factory: (to: URL | string, of: object) => new undici.Pool(to, of),
  });
}

let userAgent: Promise<string> | undefined;

/** A gateway may refuse requests that do not say who sends them. */
function ownUserAgent(): Promise<string> {
  userAgent ??= packageVersion().then((version) => `sandflow/${version}`);
  return userAgent;
}

export function createCaller(given: SandboxClientOptions) {
  requireForm(given);
  const { origin, basePath } = readBaseUrl(given.baseUrl, given.allowHttp);
  const { onCall, timeoutMs: defaultTimeoutMs = 30_000, connections = 128 } = given;
  let opened = given.dispatcher && Promise.resolve(given.dispatcher);
  let closed: Promise<void> | undefined;

  const pool = () => {
    if (opened) return opened;
    opened = dispatcherTo(origin, { connections, pipelining: 1, allowH2: false });
    // A closed pool refuses the call, as if it had been opened before it was closed.
    if (closed) opened = opened.then((late) => late.close().then(() => late));
    return opened;
  };

  /** Checks the request, then gets the key: an invalid request is never sent. */
  async function prepare(endpoint: CallName, sent: Sent, options: StreamOptions) {
    checkPath(endpoint, sent.path);
    options.signal?.throwIfAborted();
    const key = headerSecret('The API key', typeof given.apiKey === 'string' ? given.apiKey : await given.apiKey());
    const headers: Record<string, string> = {
      ...(await traceHeaders()),
      'user-agent': await ownUserAgent(),
      ...sent.headers,
      authorization: `Bearer ${key}`,
    };
    if (sent.body !== null) headers['content-type'] = 'application/json';
    if (sent.confirmDelete) headers[confirmHeaderIn(given)] = sent.confirmDelete;
    const request: ExchangeRequest = {
      endpoint,
      origin,
      method: sent.method,
      path: `${basePath}${sent.path}${queryString(sent.query)}`,
      headers,
      body: sent.body,
      timeoutMs: options.timeoutMs ?? defaultTimeoutMs,
      signal: options.signal,
    };
    return request;
  }

  /** Makes a call and reads its answer. */
  async function callOnce<Name extends EndpointName>(endpoint: Name, parts: CallParts<Name>, options: CreateOptions) {
    const record = startRecord(endpoint, { signal: options.signal, onCall });
    let response: ExchangeResponse | undefined;
    try {
      const headers: Record<string, string> = { accept: 'application/json' };
      if (options.idempotencyKey) headers[idempotencyKeyHeader] = idempotencyKeyIn(given, options.idempotencyKey);
      const { query, confirmDelete } = parts;
      const path = pathOf(endpoint, parts);
      const body = parts.body ? stableJson(bodyIn(given, endpoint, parts.body)) : null;
      const sent = { method: endpoints[endpoint].method, path, headers, body, query, confirmDelete };
      response = await exchange(await pool(), await prepare(endpoint, sent, options));
      if (response.status < 200 || response.status >= 300) throw readFailure(endpoint, response);
      const read = readSuccess(endpoint, path, { response, isWanted: parts.isWanted });
      options.onBodyRead?.(response.body.length);
      record.end(response.status);
      return { ...read, headers: response.headers, bytes: response.body.length };
    } catch (error) {
      record.end(response?.status ?? null, error);
      throw error;
    }
  }

  const call: Call = async (endpoint, parts, options = {}) => {
    let leftOut = 0;
    const { eachPage = (read) => read(options) } = options;
    const { whole, isWanted } = parts;
    const readPage = async (query: Query | undefined) => {
      const page = await eachPage((pageOptions) => callOnce(endpoint, { ...parts, query }, pageOptions));
      leftOut += page.rowsLeftOut;
      return page;
    };
    const list = listOf(endpoint);
    const url = `${origin}${basePath}${pathOf(endpoint, parts)}`;
    try {
      const answer = list
        ? await readList(list, { query: parts.query ?? {}, url, whole, isWanted, readPage })
        : (await readPage(parts.query)).answer;
      return answer as ResponseOf<typeof endpoint>;
    } finally {
      if (leftOut > 0) options.onRowsLeftOut?.(leftOut);
    }
  };

  /**
   * Makes a call whose answer is a stream. Its record ends with the stream.
   * @param requireSuccess whether an answer other than 2xx is thrown
   */
  async function stream(
    name: CallName,
    plain: Omit<PlainRequest, 'path'> & Pick<Sent, 'path'>,
    options: StreamOptions,
    requireSuccess: boolean,
  ) {
    const record = startRecord(name, { signal: options.signal, onCall });
    let status: number | null = null;
    try {
      const sent = { ...plain, headers: { accept: '*/*' }, body: plain.body ?? null };
      const request = await prepare(name, sent, options);
      const response = await streamExchange(await pool(), request);
      status = response.status;
      if (requireSuccess && (status < 200 || status >= 300)) {
        const body = await readWhole(name, response.body, request.timeoutMs);
        throw readFailure(name, { ...response, body });
      }
      finished(response.body, (error) => record.end(response.status, error ?? undefined));
      return response;
    } catch (error) {
      record.end(status, error);
      throw error;
    }
  }

  const open: Open = async (endpoint, parts, options = {}) => {
    const { method } = endpoints[endpoint];
    return stream(endpoint, { method, path: pathOf(endpoint, parts), query: parts.query }, options, true);
  };

  const request = async (plain: PlainRequest, options: StreamOptions = {}): Promise<PlainResponse> =>
    stream(`${plain.method} ${plain.path}`, plain, options, false);

  const close = () => {
    closed ??= opened ? opened.then((dispatcher) => dispatcher.close()) : Promise.resolve();
    return closed;
  };
  return { call, open, request, close };
}

/** Reports a call once, when it has ended. */
function startRecord(
  endpoint: CallName,
  options: { readonly signal?: AbortSignal; readonly onCall: ((record: CallRecord) => void) | undefined },
) {
  const startedAt = Date.now();
  const start = performance.now();
  let ended = false;
  return {
    /** Records that the call has ended; `failure` is undefined after success. Only the first call has an effect. */
    end(status: number | null, failure?: unknown): void {
      if (ended) return;
      ended = true;
      try {
        options.onCall?.({
          endpoint,
          startedAt,
          durationMs: performance.now() - start,
          status,
          errorCode: failure === undefined ? null : codeOf(failure, options.signal),
          requestId: requestIdOf(failure),
        });
      } catch (error) {
        // An error in a metrics callback must not lose the response of a call that took effect.
        const message = error instanceof Error ? error.message : 'no error';
        process.emitWarning(`onCall of the sandbox client threw: ${message}`);
      }
    },
  };
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

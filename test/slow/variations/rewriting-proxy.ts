/** A proxy between the worker's client and the service that makes other requests and answers of each, and records every call. */
import { Agent, createServer, type IncomingMessage, type ServerResponse, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type ProxiedCall, readEndpoint, readJson } from '../matrix/faults/fault-proxy.js';
import { type Tag, tagHeader } from '../matrix/tagged-client.js';

export type Json = Record<string, unknown>;
type Headers = Record<string, string | string[] | undefined>;

export interface Request {
  readonly method: string;
  /** Undefined for an address that the contract does not have. */
  readonly endpoint: ProxiedCall['endpoint'] | undefined;
  /** Of the request, without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Headers;
  body: Json | undefined;
}

export interface Answer {
  status: number;
  headers: Headers;
  /** Undefined if the answer is no JSON object. */
  body: Json | undefined;
  /** Sent if there is no `body`. */
  bytes: Buffer;
}

/** How a service differs. Both functions may change what they are given. */
export interface Rewriting {
  /** @returns the answer, for a request that the service does not get */
  readonly request?: (request: Request) => Answer | undefined;
  readonly answer?: (answer: Answer, request: Request) => unknown;
}

export interface RewritingProxy {
  readonly url: string;
  readonly calls: readonly ProxiedCall[];
  /** The workflow that made each sandbox, by its id. */
  readonly makers: ReadonlyMap<string, string>;
  close(): Promise<void>;
}

export async function createRewritingProxy(
  serviceUrl: string,
  rewritings: readonly Rewriting[],
): Promise<RewritingProxy> {
  const target = new URL(serviceUrl);
  const agent = new Agent({ keepAlive: true });
  const calls: ProxiedCall[] = [];
  const makers = new Map<string, string>();

  async function handle(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const method = incoming.method ?? '';
    const url = new URL(incoming.url ?? '', target);
    const known = readEndpoint(method, url.pathname.slice(target.pathname.length));
    const { [tagHeader]: tagText, host: _, 'content-length': __, ...headers } = incoming.headers;
    const body = readJson(await whole(incoming)) as Json | undefined;
    const request: Request = {
      method,
      endpoint: known?.endpoint,
      path: url.pathname,
      query: url.searchParams,
      headers,
      body,
    };
    const tag = typeof tagText === 'string' ? (JSON.parse(tagText) as Tag) : undefined;
    if (tag && known) calls.push({ ...tag, ...known, site: '', path: url.pathname, struckBy: null });
    let answer: Answer | undefined;
    for (const { request: change } of rewritings) answer ??= change?.(request);
    answer ??= await forward(request);
    const made = (answer.body?.sandbox as Json | undefined)?.id;
    const isCreate = known?.endpoint === 'createSandbox' || known?.endpoint === 'forkSandbox';
    if (isCreate && typeof made === 'string') makers.set(made, tag?.workflowId ?? '');
    for (const { answer: change } of rewritings) await change?.(answer, request);
    response.writeHead(answer.status, answer.headers);
    response.end(answer.body === undefined ? answer.bytes : JSON.stringify(answer.body));
  }

  async function forward({ method, path, query, headers, body }: Request): Promise<Answer> {
    const text = body === undefined ? '' : JSON.stringify(body);
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const { hostname, port } = target;
      const length = { 'content-length': String(Buffer.byteLength(text)) };
      const given = { hostname, port, agent, method, path: `${path}?${query}`, headers: { ...headers, ...length } };
      send(given, resolve).on('error', reject).end(text);
    });
    const bytes = await whole(answer);
    const { 'content-length': _, 'transfer-encoding': __, connection: ___, ...kept } = answer.headers;
    return { status: answer.statusCode ?? 0, headers: kept, body: readJson(bytes) as Json | undefined, bytes };
  }

  const server = createServer((incoming, response) => {
    handle(incoming, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}${target.pathname}`,
    calls,
    makers,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      agent.destroy();
    },
  };
}

async function whole(message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

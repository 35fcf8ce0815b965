/**
 * Decodes and encodes payloads for the UI and the command line of Temporal, which have no keys: `POST /decode` and
 * `POST /encode`, as Temporal specifies them for codec servers. Whoever holds the token can read all encrypted data.
 * `GET /healthz` needs no token.
 */

import { createHash, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Payload, PayloadCodec } from '@temporalio/common';
import { SandflowError } from '../errors/sandflow-error.js';
import { boundStrangers, type Strangers } from '../os/bound-strangers.js';
import { listen } from '../os/listen.js';
import { readRawBody } from '../os/raw-body.js';
import { headerSecret } from '../secrecy/known-secrets.js';
import { requireCounts } from '../settings/required-numbers.js';
import { requireOptions } from '../settings/required-options.js';

const shortestToken = 24;
/** Connections without the token. Beyond this number, the one whose last request is the oldest is closed. */
const maxStrangers = 500;

/** Options of `createCodecServer`. */
export interface CodecServerOptions {
  /** The codec that decrypts; see `createPayloadCodec`. */
  readonly codec: PayloadCodec;
  /**
   * The secret that callers send as `Authorization: Bearer …`, or as the first part of the path; at least 24
   * characters.
   */
  readonly token: string;
  /**
   * Origins of web pages that may call the server, such as `https://temporal.example.com`. Programs send no origin and
   * need only the token.
   */
  readonly origins: readonly string[];
  /** Maximum size of a request, in bytes. Default: 32 MiB. */
  readonly maxBodyBytes?: number;
}

/** An HTTP server that decrypts payloads for Temporal's web interface and command line. */
export interface CodecServer {
  /** Begins to serve. `port` 0 takes any free port; `host` is 127.0.0.1 by default. @throws errors of listening */
  listen(options: { readonly port: number; readonly host?: string }): Promise<{ url: string; port: number }>;
  /** Closes the server and its connections. Safe to repeat. */
  close(): Promise<void>;
}

/**
 * @throws SandflowError `bad_configuration` if the token is too short, or if an entry of `origins` is not an origin;
 *   `bad_api_key` if a header cannot carry the token; `bad_argument` if `maxBodyBytes` is no number
 * @example
 * const codec = createPayloadCodec(await readKeyRing('/etc/sandflow/keys'));
 * const server = createCodecServer({ codec, token, origins: ['https://temporal.example.com'] });
 */
export function createCodecServer(options: CodecServerOptions): CodecServer {
  requireOptions(options, { codec: 'an object', token: 'a text', origins: 'a list' });
  const { codec, origins, maxBodyBytes = 32 * 1024 * 1024 } = options;
  const token = headerSecret('The token', options.token);
  if (token.length < shortestToken) {
    throw new SandflowError('bad_configuration', `The token must have at least ${shortestToken} characters.`);
  }
  for (const origin of origins) checkOrigin(origin);
  requireCounts({ maxBodyBytes });
  let server: Server | undefined;
  let strangers: Strangers | undefined;

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const isAsked = request.method === 'GET' || request.method === 'HEAD';
    if (isAsked && request.url === '/healthz') return answer(response, 200, { ok: true });
    const { origin } = request.headers;
    if (origin !== undefined) {
      // This check comes first, so that nothing is decoded for a page of another origin.
      if (!origins.includes(origin)) return answer(response, 403, { message: 'This origin may not call.' });
      allow(origin, request, response);
    }
    if (request.method === 'OPTIONS') return void response.writeHead(204).end();
    const { operation, shown } = callOf(request);
    if (!isSame(shown, token)) {
      response.setHeader('www-authenticate', 'Bearer');
      return answer(response, 401, { message: 'The token is missing or wrong.' });
    }
    strangers?.admit(request.socket);
    if (operation !== 'encode' && operation !== 'decode') return answer(response, 404, { message: 'Not found.' });
    if (request.method !== 'POST') return answer(response, 405, { message: 'Only POST is served.' });
    const body = await readRawBody(request, maxBodyBytes);
    if (body === 'too_large') {
      response.setHeader('connection', 'close');
      return answer(response, 413, { message: `A request may have at most ${maxBodyBytes} bytes.` });
    }
    answer(response, 200, { payloads: payloadsOut(await codec[operation](payloadsIn(body.toString('utf8')))) });
  }

  return {
    listen(address) {
      // Node enforces the timeouts this often; by default only every 30 s.
      const timeouts = { requestTimeout: 30_000, headersTimeout: 10_000, connectionsCheckingInterval: 1_000 };
      const made = createServer(timeouts, (request, response) => {
        handle(request, response).catch((error: unknown) => {
          if (response.headersSent || response.destroyed) return void response.destroy();
          if (error instanceof SandflowError)
            return answer(response, 400, { code: error.code, message: error.message });
          answer(response, 500, { message: 'Internal error.' });
        });
      });
      strangers = boundStrangers(made, { most: maxStrangers });
      server = made;
      return listen(made, address);
    },
    async close() {
      const open = server;
      if (!open?.listening) return;
      await new Promise<void>((resolve) => {
        open.close(() => resolve());
        open.closeAllConnections();
      });
    },
  };
}

/** Reads operation and token from `/decode` and a header, or from `/<token>/decode` for a UI that sends no header. */
function callOf({ url = '/', headers }: IncomingMessage): { readonly operation: string; readonly shown: string } {
  const parts = (url.split('?', 1)[0] ?? '').split('/').filter((part) => part !== '');
  const operation = parts.at(-1) ?? '';
  if (parts.length === 2) return { operation, shown: parts[0] ?? '' };
  const bearer = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1] ?? '';
  return { operation: parts.length === 1 ? operation : '', shown: bearer };
}

function allow(origin: string, request: IncomingMessage, response: ServerResponse): void {
  response.setHeader('access-control-allow-origin', origin);
  response.setHeader('vary', 'origin');
  response.setHeader('access-control-allow-credentials', 'true');
  if (request.method !== 'OPTIONS') return;
  response.setHeader('access-control-allow-methods', 'POST');
  response.setHeader('access-control-allow-headers', 'authorization, content-type, x-namespace');
  response.setHeader('access-control-max-age', '600');
  if (request.headers['access-control-request-private-network'] === 'true') {
    response.setHeader('access-control-allow-private-network', 'true');
  }
}

function checkOrigin(origin: string): void {
  if (URL.canParse(origin) && new URL(origin).origin === origin) return;
  const message = `"${origin}" is not an origin: scheme, host and port, such as https://temporal.example.com.`;
  throw new SandflowError('bad_configuration', message);
}

/** Compares in constant time. */
function isSame(shown: string, token: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(shown), digest(token));
}

function answer(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' });
  response.end(JSON.stringify(body));
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * A body without `payloads` counts as an empty list, because Temporal's command line sends such bodies.
 * @throws SandflowError `bad_payloads`
 */
function payloadsIn(body: string): Payload[] {
  let read: unknown;
  try {
    read = JSON.parse(body);
  } catch (cause) {
    throw new SandflowError('bad_payloads', 'The body is not JSON.', { cause });
  }
  const payloads = isFields(read) ? (read.payloads ?? []) : undefined;
  if (!Array.isArray(payloads)) throw new SandflowError('bad_payloads', 'The body must be {"payloads": […]}.');
  return payloads.map((payload: unknown) => {
    if (!isFields(payload)) throw new SandflowError('bad_payloads', 'A payload must be an object.');
    const metadata = isFields(payload.metadata) ? payload.metadata : {};
    const fields = Object.entries(metadata).map(([name, value]) => [name, bytesOf(value)] as const);
    return { metadata: Object.fromEntries(fields), data: bytesOf(payload.data) };
  });
}

function payloadsOut(payloads: readonly Payload[]): Fields[] {
  const text = (bytes: Uint8Array | null | undefined) => Buffer.from(bytes ?? []).toString('base64');
  return payloads.map(({ metadata, data }) => ({
    metadata: Object.fromEntries(Object.entries(metadata ?? {}).map(([name, value]) => [name, text(value)])),
    data: text(data),
  }));
}

function bytesOf(value: unknown): Buffer {
  return Buffer.from(typeof value === 'string' ? value : '', 'base64');
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

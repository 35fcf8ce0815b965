/**
 * Answers requests to hosted URLs: a name below `localhost` leads to a port of a sandbox. Without a good token, nothing
 * is shown, not even whether there is such a sandbox.
 */
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Strangers } from '../../../src/os/bound-strangers.js';
import { goodToken, recheckMs } from '../access/access-tokens.js';
import type { Context } from '../core/context.js';
import { acceptsWork } from '../core/machine-states.js';
import { reasonOf } from '../log.js';
import { MachineError, vncPort } from '../machine/index.js';
import type { SandboxRecord } from '../store/sandbox-record.js';
import { desktopPage, pagePolicy, streamPath } from './desktop-page.js';
import { joinStream } from './desktop-stream.js';
import { forward, forwardUpgrade, messageHead } from './forward.js';
import { type HostedName, type HostedPlace, hostedUrl, parseHostedName } from './hosted-names.js';
import { hasTokenInQuery, headersToPass, pathWithoutToken, tokenName, tokensOf } from './hosted-request.js';

const maxPort = 65_535;

export interface HostedServer {
  /** Answers requests to hosted URLs, and leaves all others to `others`. */
  answer(others: RequestListener): RequestListener;
  /**
   * Handles the upgrades of a server. All but WebSockets of hosted URLs become plain requests.
   * @param strangers those of the server: whoever has a token is none
   */
  handleUpgrades(server: Server, strangers: Strangers): void;
  /** Ends all connections. Safe to repeat. */
  close(): void;
}

/** An answer of the service itself. */
interface Refusal {
  readonly status: number;
  readonly text: string;
}

interface FoundPlace {
  readonly sandbox: SandboxRecord;
  readonly place: HostedPlace;
  /** Undefined if a public desktop was asked for without a good one. */
  readonly token: string | undefined;
}

type Found = FoundPlace | { readonly refusal: Refusal };

export function createHostedServer(context: Context): HostedServer {
  const open = new Map<Duplex | ServerResponse, () => boolean>();
  let strangers: Strangers | undefined;
  /** A connection that stays open ends with its token, such as that of a key that is revoked. */
  const keep = (connection: Duplex | ServerResponse, request: IncomingMessage, name: HostedName): void => {
    const isAllowed = (): boolean => {
      const found = find(request, name);
      return !('refusal' in found) || found.refusal !== noToken;
    };
    open.set(connection, isAllowed);
    connection.once('close', () => open.delete(connection));
  };
  const recheck = setInterval(() => {
    for (const [connection, isAllowed] of open) if (!isAllowed()) connection.destroy();
  }, recheckMs).unref();

  const find = (request: IncomingMessage, { sandboxId, subdomain, place }: HostedName): Found => {
    const sandbox = context.stores.sandboxes.get(sandboxId);
    const action = place === 'desktop' ? 'desktop' : 'host';
    if (sandbox?.subdomain !== subdomain) return { refusal: noToken };
    const isOpen = place === 'desktop' && context.host.desktopOf(sandboxId)?.isPublic();
    const token = goodToken(context, tokensOf(request), { sandbox, action });
    if (token !== undefined) strangers?.admit(request.socket);
    if (!isOpen && token === undefined) return { refusal: noToken };
    return acceptsWork(sandbox) ? { sandbox, place, token } : { refusal: notRunning(sandbox) };
  };

  const connect = async (sandbox: SandboxRecord, port: number) => {
    // Without a network of its own, a sandbox has the port of this service, which would call itself for ever.
    const isPort = port > 0 && port <= maxPort && port !== context.servicePort();
    return isPort ? await context.host.connect(sandbox.id, port).catch(asRefusal) : nothingAt(port);
  };

  const asRefusal = (cause: unknown): Refusal => {
    if (cause instanceof MachineError) return { status: 502, text: cause.message };
    context.log('a hosted URL could not be served', { reason: reasonOf(cause) });
    return { status: 500, text: 'The local service failed unexpectedly. Its log contains the reason.' };
  };

  const serve = async (request: IncomingMessage, response: ServerResponse, name: HostedName): Promise<void> => {
    const found = find(request, name);
    if ('refusal' in found) return say(response, found.refusal);
    // A browser keeps the token as a cookie, so that it is in no address bar, history or `Referer`.
    if (hasTokenInQuery(request) && request.headers['sec-fetch-mode'] === 'navigate')
      return redirect(request, response, found.token);
    const { sandbox, place } = found;
    if (place === 'desktop') return await showPage(request, response);
    if (place === 'machine') return say(response, { status: 200, text: howToReach(sandbox, request) });
    const socket = await connect(sandbox, place);
    if ('text' in socket) return say(response, socket);
    // The caller may have left meanwhile, of which the answer tells nobody any more.
    if (request.socket.destroyed) return void socket.destroy();
    const onFailure = () => say(response, noAnswer(place));
    keep(response, request, name);
    forward(request, response, { socket, onFailure });
  };

  const upgrade = async (request: IncomingMessage, caller: Duplex, head: Buffer, name: HostedName): Promise<void> => {
    keep(caller, request, name);
    caller.on('error', () => undefined);
    const found = find(request, name);
    if ('refusal' in found) return refuseUpgrade(caller, found.refusal);
    const { sandbox, place } = found;
    if (place === 'machine') return refuseUpgrade(caller, { status: 404, text: howToReach(sandbox, request) });
    if (place === 'desktop' && !isStream(request)) return refuseUpgrade(caller, noStream);
    const socket = await connect(sandbox, place === 'desktop' ? vncPort : place);
    if ('text' in socket) return refuseUpgrade(caller, socket);
    if (caller.destroyed) socket.destroy();
    else if (place === 'desktop') joinStream(request, caller, head, socket);
    else forwardUpgrade(request, caller, { head, socket, onFailure: () => refuseUpgrade(caller, noAnswer(place)) });
  };

  const answer: HostedServer['answer'] = (others) => (request, response) => {
    const name = parseHostedName(request.headers.host);
    if (!name) return others(request, response);
    serve(request, response, name).catch((cause: unknown) => say(response, asRefusal(cause)));
  };

  return {
    answer,
    handleUpgrades(server, strangersOfServer) {
      strangers = strangersOfServer;
      server.on('upgrade', (request, caller, head) => {
        const name = parseHostedName(request.headers.host);
        if (!name || request.headers.upgrade?.toLowerCase() !== 'websocket')
          return askAgain(server, request, { caller, head });
        upgrade(request, caller, head, name).catch((cause: unknown) => refuseUpgrade(caller, asRefusal(cause)));
      });
    },
    close() {
      clearInterval(recheck);
      for (const connection of open.keys()) connection.destroy();
    },
  };
}

const noToken: Refusal = {
  status: 401,
  text: 'This address needs the `_token` of its URL. GET /v1/sandboxes/{sandboxId} shows it as `url` to a key that may host ports.',
};

const notRunning = ({ state }: SandboxRecord): Refusal => ({
  status: 503,
  text: `The sandbox is ${state}. Its ports answer while it is ready, idle or running.`,
});

const nothingAt = (port: number): Refusal => ({ status: 502, text: `The sandbox has no port ${port} to host.` });

const noAnswer = (place: HostedPlace): Refusal => ({
  status: 502,
  text: `Port ${place} of the sandbox gave no HTTP answer.`,
});

const noStream: Refusal = {
  status: 404,
  text: `The stream of a desktop is a WebSocket at ${streamPath}, from a page of the same host name.`,
};

/** Without a token, only the origin keeps the pages of others away. */
function isStream(request: IncomingMessage): boolean {
  const { origin, host } = request.headers;
  const isOwn = origin === undefined || origin.toLowerCase() === `http://${host}`.toLowerCase();
  return isOwn && pathWithoutToken(request) === streamPath;
}

async function showPage(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const page = await desktopPage(pathWithoutToken(request).split('?')[0] ?? '');
  if (!page) return say(response, { status: 404, text: 'The desktop has no such page.' });
  const headers = { 'content-security-policy': pagePolicy, 'referrer-policy': 'no-referrer' };
  response.writeHead(200, { 'content-type': page.type, 'cache-control': 'no-store', ...headers });
  response.end(page.content);
}

function howToReach(sandbox: SandboxRecord, { socket }: IncomingMessage): string {
  const example = hostedUrl(sandbox, 8080, socket.localPort);
  return `This is the sandbox ${sandbox.id}. Its port 8080, for example, is at ${example}, with the same _token.`;
}

/** @param token the good one: others of the request may be old, or have other attributes of a cookie in them */
function redirect(request: IncomingMessage, response: ServerResponse, token: string | undefined): void {
  response.writeHead(302, {
    location: pathWithoutToken(request),
    ...(token && { 'set-cookie': `${tokenName}=${token}; Path=/; HttpOnly; SameSite=Lax` }),
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
  });
  response.end();
}

function say(response: ServerResponse, { status, text }: Refusal): void {
  if (response.headersSent) return void response.destroy();
  response.writeHead(status, { ...plainText, 'content-length': Buffer.byteLength(text) + 1 });
  response.end(`${text}\n`);
}

function refuseUpgrade(caller: Duplex, { status, text }: Refusal): void {
  const headers = Object.entries({ ...plainText, connection: 'close' }).flat();
  caller.end(`${messageHead(`HTTP/1.1 ${status} Refused`, headers)}${text}\n`);
}

const plainText = { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' };

/** Some clients ask for HTTP/2 by an upgrade, which a server may ignore. The request is read once more, without it. */
function askAgain(
  server: Server,
  request: IncomingMessage,
  { caller, head }: { readonly caller: Duplex; readonly head: Buffer },
): void {
  const { method, url, httpVersion } = request;
  const text = messageHead(`${method} ${url} HTTP/${httpVersion}`, headersToPass(request));
  caller.unshift(Buffer.concat([Buffer.from(text, 'latin1'), head]));
  server.emit('connection', caller);
}

/** Passes a request to a server inside a sandbox, and its answer back. */
import { type IncomingMessage, type ServerResponse, request as sendRequest } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { headersForSandbox, headersOfSandbox, pathWithoutToken } from './hosted-request.js';

/**
 * @param socket a connection to the server, which ends with the answer
 * @param onFailure called if the server ends the connection before it answers
 */
export function forward(
  request: IncomingMessage,
  response: ServerResponse,
  { socket, onFailure }: { readonly socket: Socket; readonly onFailure: () => void },
): void {
  const sent = sendRequest({
    method: request.method,
    path: pathWithoutToken(request),
    headers: headersForSandbox(request),
    createConnection: () => socket,
  });
  sent.once('response', (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.statusMessage, headersOfSandbox(answer));
    response.flushHeaders();
    answer.pipe(response);
    answer.once('error', () => response.destroy());
  });
  sent.on('error', () => {
    if (response.writableEnded) return;
    if (response.headersSent) response.destroy();
    else onFailure();
  });
  response.once('close', () => socket.destroy());
  request.pipe(sent);
}

/**
 * Passes an upgrade, such as to a WebSocket. What the server answers goes to the caller as it is.
 * @param head what the caller has sent after its request
 */
export function forwardUpgrade(
  request: IncomingMessage,
  caller: Duplex,
  { head, socket }: { readonly head: Buffer; readonly socket: Socket },
): void {
  const headers = [...headersForSandbox(request), 'Connection', 'Upgrade', 'Upgrade', request.headers.upgrade ?? ''];
  socket.write(requestText(`${request.method} ${pathWithoutToken(request)} HTTP/1.1`, headers));
  socket.write(head);
  join(caller, socket);
}

/** Joins two connections until either of them breaks, or both have ended. */
export function join(one: Duplex, other: Duplex): void {
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    from.on('error', () => to.destroy());
    from.once('close', () => to.destroy());
    from.pipe(to);
  }
}

/** @param headers names and values in turn, as a parser gave them, so that no line break is in them */
export function requestText(firstLine: string, headers: readonly string[]): string {
  const lines = [firstLine];
  for (let at = 0; at + 1 < headers.length; at += 2) lines.push(`${headers[at]}: ${headers[at + 1]}`);
  return `${lines.join('\r\n')}\r\n\r\n`;
}

/** Passes a request to a server inside a sandbox, and its answer back. */
import { type IncomingMessage, type ServerResponse, request as sendRequest } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { headersForSandbox, headersToPass, pairsOf, pathWithoutToken } from './hosted-request.js';

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
    try {
      // Its own reason phrase may have characters that an answer must not have, and no client needs it.
      response.writeHead(answer.statusCode ?? 502, headersToPass(answer));
    } catch {
      // The parser lets more pass than may be sent, such as the status 99.
      answer.destroy();
      return onFailure();
    }
    response.flushHeaders();
    answer.pipe(response);
    answer.once('error', () => response.destroy());
  });
  sent.on('error', () => {
    if (response.writableEnded) return;
    if (response.headersSent) response.destroy();
    else onFailure();
  });
  // Nobody has asked for an upgrade.
  sent.once('upgrade', () => {
    socket.destroy();
    onFailure();
  });
  response.once('close', () => socket.destroy());
  request.pipe(sent);
}

/**
 * Passes an upgrade to a WebSocket. Only if the server accepts it does the connection belong to it. Otherwise the
 * connection ends with the answer: a next request on it could hold the token.
 * @param head what the caller has sent after its request
 * @param onFailure called if the server ends the connection before it answers
 */
export function forwardUpgrade(
  request: IncomingMessage,
  caller: Duplex,
  { head, socket, onFailure }: { readonly head: Buffer; readonly socket: Socket; readonly onFailure: () => void },
): void {
  const sent = sendRequest({
    method: request.method,
    path: pathWithoutToken(request),
    headers: [...headersForSandbox(request), 'Connection', 'Upgrade', 'Upgrade', request.headers.upgrade ?? ''],
    createConnection: () => socket,
  });
  sent.once('upgrade', ({ rawHeaders }, _, first) => {
    caller.write(messageHead('HTTP/1.1 101 Switching Protocols', rawHeaders), 'latin1');
    caller.write(first);
    socket.write(head);
    join(caller, socket);
  });
  sent.once('response', (answer) => {
    const headers = pairsOf(headersToPass(answer)).filter(([name]) => name.toLowerCase() !== 'transfer-encoding');
    const text = messageHead(`HTTP/1.1 ${answer.statusCode} Refused`, [...headers.flat(), 'Connection', 'close']);
    caller.write(text, 'latin1');
    answer.on('error', () => caller.destroy()).pipe(caller);
  });
  sent.once('error', onFailure);
  caller.once('close', () => socket.destroy());
  sent.end();
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

/**
 * The head of a request or an answer.
 * @param headers names and values in turn, as a parser gave them, so that no line break is in them
 */
export function messageHead(firstLine: string, headers: readonly string[]): string {
  const lines = [firstLine];
  for (let at = 0; at + 1 < headers.length; at += 2) lines.push(`${headers[at]}: ${headers[at + 1]}`);
  return `${lines.join('\r\n')}\r\n\r\n`;
}

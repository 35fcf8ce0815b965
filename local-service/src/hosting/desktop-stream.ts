/** The stream of a desktop: a WebSocket that carries the bytes of its VNC server. The borders of messages do not matter. */
import type { IncomingMessage } from 'node:http';
import { type Duplex, pipeline } from 'node:stream';
import { createWebSocketStream, WebSocketServer } from 'ws';

const webSockets = new WebSocketServer({
  noServer: true,
  clientTracking: false,
  maxPayload: 1024 * 1024,
  autoPong: false,
  // Older viewers insist on this name.
  handleProtocols: (offered) => offered.has('binary') && 'binary',
});

/**
 * Accepts the upgrade and joins the caller with a plain connection, until either ends. A request that is no good
 * handshake is refused.
 */
export function joinStream(request: IncomingMessage, caller: Duplex, head: Buffer, plain: Duplex): void {
  const end = (): void => {
    caller.destroy();
    plain.destroy();
  };
  caller.once('close', end);
  webSockets.handleUpgrade(request, caller, head, (webSocket) => {
    // A caller that reads no answers must not make them pile up.
    webSocket.on('ping', (payload) => {
      if (!caller.writableNeedDrain) webSocket.pong(payload);
    });
    const stream = createWebSocketStream(webSocket);
    pipeline(stream, plain, end);
    pipeline(plain, stream, end);
  });
}

/** Counts and tells of requests that Node cannot read, and answers them as Node does by itself. */
import { type Server, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { BridgeMetrics } from './bridge-metrics.js';
import type { RefusedDeliveries } from './refused-deliveries.js';

const statuses: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

export function tellUnreadRequests(
  server: Server,
  { metrics, refusals }: { readonly metrics: BridgeMetrics; readonly refusals: RefusedDeliveries },
): void {
  server.on('clientError', ({ code = '' }: NodeJS.ErrnoException, socket: Socket) => {
    const status = statuses[code] ?? 400;
    // A peer that goes away, or that sends nothing in time, has sent no delivery.
    if (code.startsWith('HPE_')) {
      const result = status === 431 ? 'headers_too_large' : 'bad_request';
      metrics.delivery(result);
      refusals.refused(result, { code });
    }
    if (socket.writable) socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\n\r\n`);
    socket.destroy();
  });
}

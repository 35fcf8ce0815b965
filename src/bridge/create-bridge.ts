import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Registry } from 'prom-client';
import { SandflowError } from '../contract/sandflow-error.js';
import { createBridgeMetrics } from './bridge-metrics.js';
import type { BridgeOptions } from './bridge-options.js';
import { createReadiness } from './readiness.js';
import { createRequestHandler } from './request-handler.js';

export interface Bridge {
  /**
   * For mounting in a server of one's own: `POST /webhooks/sandbox`, `GET /healthz`, `/readyz`, `/metrics`. It needs
   * the body unread. Without any secret it answers deliveries with 503.
   */
  readonly handler: (request: IncomingMessage, response: ServerResponse) => void;
  /**
   * Serves on a port of its own. `port` 0 takes any that is free; `host` is 127.0.0.1 by default.
   * @throws SandflowError `no_webhook_secret` while there is no secret; what listening throws, such as EADDRINUSE
   */
  listen(options: { readonly port: number; readonly host?: string }): Promise<{ url: string; port: number }>;
  /** Sets the metrics to zero and forgets what is cached. */
  reset(): void;
  /** Takes no new connections, lets requests under way finish, closes the rest. May be called again. */
  close(): Promise<void>;
}

/**
 * Creates the bridge: signed webhook in, signal out. It acknowledges a delivery only when Temporal has accepted all
 * its signals, keeps no state, and any number of replicas may run side by side.
 */
export function createBridge(options: BridgeOptions): Bridge {
  const { temporalClient: client, secrets, signalTimeoutMs = 3_000, maxBodyBytes = 256 * 1024 } = options;
  const { closeGraceMs = 5_000, log = () => {}, registry = new Registry() } = options;
  const metrics = createBridgeMetrics(registry);
  const readiness = createReadiness(client, secrets);
  const receiver = { client, secrets, signalTimeoutMs, metrics, log };
  const handle = createRequestHandler({ receiver, readiness, registry, metrics, maxBodyBytes, log });
  const underWay = new Set<Promise<void>>();
  let server: Server | undefined;
  let closing: Promise<void> | undefined;

  const handler = (request: IncomingMessage, response: ServerResponse) => {
    if (closing) response.setHeader('connection', 'close');
    const done = handle(request, response).finally(() => underWay.delete(done));
    underWay.add(done);
  };

  async function listen({ port, host = '127.0.0.1' }: { readonly port: number; readonly host?: string }) {
    if (server) throw new SandflowError('already_listening', 'The bridge listens already; make another one.');
    if ((await secrets()).length === 0) {
      throw new SandflowError(
        'no_webhook_secret',
        'The bridge has no webhook secret, so it could trust nobody. Run `sandflow webhooks ensure --url …` to register it and get one, or set SANDBOX_WEBHOOK_SECRET.',
      );
    }
    // The sender gives up after 5 s; a request that trickles in for longer is of no use to anybody.
    const made = createServer({ requestTimeout: 10_000, headersTimeout: 5_000, keepAliveTimeout: 30_000 }, handler);
    server = made;
    await new Promise<void>((resolve, reject) => {
      made.once('error', reject);
      made.listen(port, host, () => resolve());
    });
    const bound = made.address() as AddressInfo;
    return { url: `http://${host.includes(':') ? `[${host}]` : host}:${bound.port}`, port: bound.port };
  }

  async function shutDown() {
    const closed = server?.listening ? closeServer(server) : Promise.resolve();
    let timer: NodeJS.Timeout | undefined;
    const grace = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, closeGraceMs);
    });
    await Promise.race([Promise.allSettled(underWay), grace]);
    // An answer that was just written leaves its socket first; what is idle then is closed, what is not was too slow.
    server?.closeIdleConnections();
    await Promise.race([closed, grace]);
    clearTimeout(timer);
    server?.closeAllConnections();
    await closed;
  }

  return {
    handler,
    listen,
    reset() {
      metrics.reset();
      readiness.reset();
    },
    close() {
      closing ??= shutDown();
      return closing;
    },
  };
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeIdleConnections();
  });
}

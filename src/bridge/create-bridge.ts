import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { Registry } from 'prom-client';
import { SandflowError } from '../errors/sandflow-error.js';
import { logWithoutSecrets } from '../errors/without-secrets.js';
import { aborted } from '../os/aborted.js';
import { timeLimit } from '../os/any-signal.js';
import { boundStrangers } from '../os/bound-strangers.js';
import { listen as listenAt } from '../os/listen.js';
import { requireCounts } from '../settings/required-numbers.js';
import { requireOptions } from '../settings/required-options.js';
import { requireClient } from '../temporal/own-copy.js';
import { createProbe, type Probe } from '../temporal/probe.js';
import { type BridgeMetrics, createBridgeMetrics, createMetricsHandler, metricsPath } from './bridge-metrics.js';
import type { BridgeOptions, SecretSource } from './bridge-options.js';
import { createOpenListeners } from './open-listeners.js';
import { createOpenWork } from './open-work.js';
import { createRefusedDeliveries, type RefusedDeliveries } from './refused-deliveries.js';
import { createRequestHandler } from './request-handler.js';

/** Receives signed webhooks and signals the workflows that they concern. */
export interface Bridge {
  /**
   * A request handler to mount in your own server: `POST /webhooks/sandbox`, `GET /healthz`, `/readyz`, also below any
   * prefix. The body must not have been read. Without any secret the handler answers deliveries with 503.
   */
  readonly handler: (request: IncomingMessage, response: ServerResponse) => void;
  /** A request handler for `GET /metrics`. It is separate so that webhook senders do not see the metrics. */
  readonly metricsHandler: (request: IncomingMessage, response: ServerResponse) => void;
  /**
   * Listens on a port. If `metrics` is given, also serves the metrics at that address.
   * @throws SandflowError `no_webhook_secret` if there is no secret; errors of listening, such as EADDRINUSE
   */
  listen(
    options: ListenAddress & { readonly metrics?: ListenAddress },
  ): Promise<{ readonly url: string; readonly port: number; readonly metricsUrl?: string }>;
  /** Resets the metrics and clears the caches. */
  reset(): void;
  /**
   * Answers `/readyz` with 503 from now on. After `drainMs` refuses new connections, waits for open requests, then closes
   * the rest. Safe to repeat: a later call without `drainMs` ends that time.
   */
  close(options?: CloseOptions): Promise<void>;
}

/** Options of `Bridge.close`. */
export interface CloseOptions {
  /**
   * How long deliveries are still accepted, in ms: until every balancer in front has seen that `/readyz` answers 503.
   * Default: 0.
   */
  readonly drainMs?: number;
}

/**
 * Creates the bridge, which turns signed webhooks into signals. It acknowledges a delivery only when Temporal has
 * accepted all its signals. Its only state is its counters, the workflows that it has just seen open and the
 * sandboxes whose events have come, so any number of replicas may run side by side.
 * @throws SandflowError `bad_argument` for an option that is missing, or a number out of range
 * @example
 * const bridge = createBridge({ temporalClient: client, secrets: createSecretSource({ fixed: [], file }) });
 * const { url } = await bridge.listen({ port: 8080 });
 */
export function createBridge(options: BridgeOptions): Bridge {
  requireClient(Object(options).temporalClient, 'temporalClient');
  requireOptions(options, { secrets: 'a function' });
  const { temporalClient: client, secrets, signalTimeoutMs = 3_000, maxBodyBytes = 256 * 1024 } = options;
  const { closeGraceMs = 5_000, registry = new Registry() } = options;
  const log = logWithoutSecrets(options.log);
  requireCounts({ signalTimeoutMs, maxBodyBytes });
  requireCounts({ closeGraceMs }, 0);
  const openWork = createOpenWork(client, { log });
  const metrics = createBridgeMetrics(registry, openWork.count);
  const readiness = createReadiness(client, secrets);
  const listeners = createOpenListeners(client, { log });
  const refusals = createRefusedDeliveries(log, options.headerPrefix);
  const receiver = { client, secrets, listeners, signalTimeoutMs, metrics, log, refusals };
  let closing: Promise<void> | undefined;
  const drained = new AbortController();
  const isClosing = () => closing !== undefined;
  const handle = createRequestHandler({ receiver, readiness, metrics, maxBodyBytes, log, isClosing });
  const underWay = new Set<Promise<void>>();
  const metricsHandler = createMetricsHandler(registry, log);
  const servers: Server[] = [];

  const handler = (request: IncomingMessage, response: ServerResponse) => {
    // A connection that ends by agreement is not used again at the moment when the server closes.
    if (isClosing()) response.setHeader('connection', 'close');
    const done = handle(request, response).finally(() => underWay.delete(done));
    underWay.add(done);
  };

  async function listen({ metrics: metricsAddress, ...address }: ListenAddress & { readonly metrics?: ListenAddress }) {
    if (servers.length > 0)
      throw new SandflowError('already_listening', 'The bridge is already listening. Create another one.');
    if ((await secrets()).length === 0) {
      throw new SandflowError(
        'no_webhook_secret',
        'The bridge has no webhook secret, so it cannot verify deliveries. Run `sandflow webhooks connect` to register it and get one, or set SANDBOX_WEBHOOK_SECRET.',
      );
    }
    const served = await listenOn(handler, address);
    tellUnreadRequests(served.server, { metrics, refusals });
    servers.push(served.server);
    const { url, port } = served;
    if (!metricsAddress) return { url, port };
    try {
      const ofMetrics = await listenOn(metricsHandler, metricsAddress);
      servers.push(ofMetrics.server);
      return { url, port, metricsUrl: `${ofMetrics.url}${metricsPath}` };
    } catch (error) {
      await shutDown();
      // Otherwise the next attempt would be told that the bridge is listening.
      servers.length = 0;
      throw error;
    }
  }

  async function shutDown() {
    const closed = Promise.all(servers.filter(({ listening }) => listening).map(closeServer));
    const grace = aborted(timeLimit(closeGraceMs));
    const settled = Promise.allSettled([...underWay, listeners.settled(), readiness.settled(), openWork.settled()]);
    await Promise.race([settled, grace]);
    // Answers that were just written are sent first. Then idle connections are closed, and busy ones are aborted.
    for (const server of servers) server.closeIdleConnections();
    await Promise.race([closed, grace]);
    for (const server of servers) server.closeAllConnections();
    await closed;
  }

  return {
    handler,
    metricsHandler,
    listen,
    reset() {
      metrics.reset();
      readiness.reset();
      listeners.reset();
      refusals.accepted();
    },
    close({ drainMs = 0 } = {}) {
      requireCounts({ drainMs }, 0);
      if (drainMs === 0) drained.abort();
      const drain = async () => {
        if (drainMs > 0) await sleep(drainMs, undefined, drained).catch(() => undefined);
        await shutDown();
      };
      closing ??= drain();
      return closing;
    },
  };
}

interface ListenAddress {
  /** 0 takes any free port. */
  readonly port: number;
  /** Default: 127.0.0.1. */
  readonly host?: string;
}

/**
 * How long a connection may be idle. A balancer keeps its connections for up to 600 s (Google's; nginx and that of AWS
 * 60 s), and sends a delivery into nothing if this end closes one first.
 */
const keepAliveMs = 620_000;

/** @throws errors of listening, such as EADDRINUSE */
async function listenOn(handler: RequestListener, address: ListenAddress) {
  // The sender gives up after 5 s. Twice that leaves a margin.
  const timeouts = { requestTimeout: 10_000, headersTimeout: 5_000, keepAliveTimeout: keepAliveMs };
  // Node enforces the timeouts this often; by default only every 30 s.
  const server = createServer({ ...timeouts, connectionsCheckingInterval: 1_000 }, handler);
  boundStrangers(server, { most: maxConnections });
  return { server, ...(await listenAt(server, address)) };
}

/**
 * Maximum number of open connections. Anyone may connect, and a process has a limited number of files. A delivery takes
 * milliseconds, so clients that only keep connections open cannot block it, nor the connections that a balancer uses
 * again and again.
 */
const maxConnections = 500;

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeIdleConnections();
  });
}

/** Says why the bridge cannot take a delivery now. */
export function createReadiness(
  client: Client,
  secrets: SecretSource,
  options: { readonly maxAgeMs?: number; readonly timeoutMs?: number } = {},
): Probe {
  return createProbe(
    client,
    async (answers) => {
      try {
        if ((await secrets()).length === 0) return 'no webhook secret';
      } catch {
        return 'the webhook secrets cannot be read';
      }
      const isReached = await answers(({ workflowService }) => workflowService.getSystemInfo({}));
      return isReached ? undefined : 'Temporal cannot be reached';
    },
    options,
  );
}

const statuses: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

/** Counts and tells of requests that Node cannot read, and answers them as Node does by itself. */
function tellUnreadRequests(
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

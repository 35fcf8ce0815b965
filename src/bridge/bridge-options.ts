import type { Client } from '@temporalio/client';
import type { Registry } from 'prom-client';

/** Returns every secret that is valid now. Called for each delivery. */
export type SecretSource = () => readonly string[] | Promise<readonly string[]>;

/** Receives a log line of the bridge; never a secret or a body. */
export type BridgeLog = (message: string, fields?: Readonly<Record<string, unknown>>) => void;

/** Options of `createBridge`. */
export interface BridgeOptions {
  /** The client that sends the signals. It may be connected lazily; the bridge never closes it. */
  readonly temporalClient: Client;
  /** See `createSecretSource`. */
  readonly secrets: SecretSource;
  /** One deadline for all signals of a delivery, in ms. Must stay under the sender's 5 s. Default: 3 000. */
  readonly signalTimeoutMs?: number;
  /** Maximum size of a body, in bytes. Default: 262 144. */
  readonly maxBodyBytes?: number;
  /** How long `close` waits for open requests, in ms. Default: 5 000. */
  readonly closeGraceMs?: number;
  /**
   * How the names of the headers of deliveries begin, in lower case. Deliveries with others are taken, and the log tells of
   * them. Default: `x-svc-`.
   */
  readonly headerPrefix?: string;
  /** Receives log lines for operators; never a secret or a body. Default: none. */
  readonly log?: BridgeLog;
  /** The registry of the metrics that `metricsHandler` serves. Default: a new one. */
  readonly registry?: Registry;
}

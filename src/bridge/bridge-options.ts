import type { Client } from '@temporalio/client';
import type { Registry } from 'prom-client';

/** Every secret that counts now. Asked at each delivery. */
export type SecretSource = () => readonly string[] | Promise<readonly string[]>;

/** Receives a log line of the bridge; never a secret or a body. */
export type BridgeLog = (message: string, fields?: Readonly<Record<string, unknown>>) => void;

/** Options of `createBridge`. */
export interface BridgeOptions {
  /** Signals go through it. It may be connected lazily; the bridge never closes it. */
  readonly temporalClient: Client;
  /** See `createSecretSource`. */
  readonly secrets: SecretSource;
  /** One deadline for all signals of a delivery, in ms. Must stay under the sender's 5 s. Default: 3 000. */
  readonly signalTimeoutMs?: number;
  /** The largest body that is taken, in bytes. Default: 262 144. */
  readonly maxBodyBytes?: number;
  /** How long `close` lets requests under way finish, in ms. Default: 5 000. */
  readonly closeGraceMs?: number;
  /** Told of what an operator should know; never of a secret or a body. Default: nobody. */
  readonly log?: BridgeLog;
  /** Where the metrics are registered, and what `metricsHandler` shows. Default: a registry of its own. */
  readonly registry?: Registry;
}

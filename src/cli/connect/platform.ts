/** Temporal, the service and the results, wherever they are: configured, or embedded on this machine. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { Client } from '@temporalio/client';
import type { SandboxClient } from '../../client/index.js';
import type { Config } from '../../config.js';
import type { ResultStore } from '../../result-store/index.js';
import { queuesWithoutWorker } from '../doctor/check-workers.js';
import type { CliIo } from '../io.js';
import type { Reporter } from '../output/reporter.js';
import { type Addresses, findAddresses, isFullyConfigured } from './addresses.js';
import { clientOf } from './check-service.js';
import { openResults } from './results.js';
import { linkToTemporal, type TemporalLink } from './temporal-link.js';

/** How long a watch waits for a Temporal that has gone, in ms. */
const patienceMs = 60_000;

export interface Platform {
  /** With the service of the embedded stack where none is configured. */
  readonly config: Config;
  /** The current connection; another one after `reconnect`. */
  readonly temporal: Client;
  readonly service: SandboxClient;
  readonly results: ResultStore;
  /** Of the embedded stack; undefined where it is not known. */
  readonly bridgeUrl: string | undefined;
  /** Keeps the content of a file that the job will write into the sandbox. Safe to repeat. @returns its reference */
  keepInput(content: Buffer): Promise<string>;
  /**
   * Brings back what is gone.
   * @throws SandflowError where that cannot be done
   */
  reconnect(reporter: Reporter): Promise<void>;
  close(): Promise<void>;
}

export interface OpenPlatformOptions {
  readonly io: CliIo;
  readonly reporter: Reporter;
  /** Warn where nobody takes the tasks of jobs. */
  readonly needsWorker: boolean;
}

/** @throws SandflowError `temporal_unreachable` and what a start of the embedded stack throws */
export async function openPlatform(config: Config, options: OpenPlatformOptions): Promise<Platform> {
  const { io, reporter, needsWorker } = options;
  const configured = isFullyConfigured(config);
  let link = await open(config, options);
  const results = openResults(config);
  if (configured && needsWorker) await warnWithoutWorker(link.temporal.client, config, reporter);

  return {
    config: link.addresses.config,
    get temporal() {
      return link.temporal.client;
    },
    get service() {
      return link.service;
    },
    bridgeUrl: link.addresses.bridgeUrl,
    results,
    async keepInput(content) {
      const digest = createHash('sha256').update(content).digest('hex');
      return (await results.put(join('inputs', digest), content)).ref;
    },
    async reconnect(current) {
      const next = configured ? 'trying again for a minute' : 'bringing the embedded stack back';
      current.notice(`Temporal does not answer; ${next}. What runs goes on from where it was.`);
      await closeLink(link);
      link = await open(config, { io, reporter: current }, patienceMs);
      current.notice('Connected again.', 'detail');
    },
    close: () => closeLink(link),
  };
}

interface Link {
  readonly addresses: Addresses;
  readonly temporal: TemporalLink;
  readonly service: SandboxClient;
}

async function open(
  config: Config,
  { io, reporter }: Pick<OpenPlatformOptions, 'io' | 'reporter'>,
  timeoutMs?: number,
): Promise<Link> {
  const addresses = await findAddresses(config, io, reporter);
  try {
    const temporal = await linkToTemporal(addresses.temporal, { timeoutMs });
    return { addresses, temporal, service: clientOf(addresses.service) };
  } catch (error) {
    addresses.release();
    throw error;
  }
}

/** May be called again: after a `reconnect` that failed the old link is closed already. */
async function closeLink({ addresses, temporal, service }: Link): Promise<void> {
  await Promise.allSettled([temporal.close(), service.close()]);
  addresses.release();
}

async function warnWithoutWorker(temporal: Client, config: Config, reporter: Reporter): Promise<void> {
  // Not everybody may describe a task queue; a job does not depend on it.
  const missing = await queuesWithoutWorker(temporal, config.taskQueue).catch(() => []);
  if (missing.length === 0) return;
  reporter.notice(
    `No worker polls ${missing.join(', ')}: the job waits until one does. Start one with \`sandflow worker\`.`,
  );
}

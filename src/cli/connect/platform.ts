/** Opens Temporal, the service and the results, either configured or embedded on this machine. */

import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { Client } from '@temporalio/client';
import type { SandboxClient } from '../../client/index.js';
import type { Config } from '../../config.js';
import type { ResultStore } from '../../result-store/index.js';
import { requireStackSettings } from '../../supervisor/stack-settings.js';
import { abortable } from '../../temporal/calls.js';
import { splitTarget } from '../../temporal/connect.js';
import { requireApis } from '../../temporal/require-apis.js';
import { requireTemporal } from '../../temporal/require-listener.js';
import { queuesWithoutWorker } from '../../temporal/task-queue-pollers.js';
import type { StartJobOptions } from '../../workflow-client/jobs/job-client.js';
import type { CliIo } from '../io.js';
import type { Notices } from '../output/reporter.js';
import { programName } from '../program-name.js';
import { formatDuration } from '../units.js';
import { UsageError } from '../usage-error.js';
import { type Addresses, findAddresses } from './addresses.js';
import { createAsk, createServiceReads, type ServiceReads } from './ask-service.js';
import { clientOf } from './check-service.js';
import { isFullyConfigured } from './configured.js';
import { type Encryption, openEncryption, openResults } from './encryption.js';
import { requireAgreement } from './key-agreement.js';
import { heldText } from './local-clock.js';
import type { LocalFacts } from './local-facts.js';
import { linkToTemporal } from './temporal-link.js';

/** Waits shorter than this cause no notice, in ms. */
const silentMs = 2_000;

const notShared =
  'Files of more than 128 KiB in total go through the result store. Set SANDFLOW_RESULTS to a directory that this command shares with the workers.';

export interface Platform extends Pick<Addresses, 'config' | 'bridgeUrl' | 'ui'> {
  /** The current connection. `reconnect` replaces it. */
  readonly temporal: Client;
  /** Makes each call once. For writes, and for reads that may fail. */
  readonly service: SandboxClient;
  /** Repeats a call while its failure may be temporary. For reads that a command depends on. */
  readonly reads: ServiceReads;
  readonly results: ResultStore;
  /** The result store, if the workers share it: for texts that are too long for an input. */
  readonly sharedResults: ResultStore | undefined;
  /** How the settings say that jobs and batches are started. */
  readonly starting: Pick<StartJobOptions, 'taskQueue' | 'promptInSummary' | 'searchAttributes' | 'results'>;
  /** What the service says of itself. It is asked once for each connection, and only by a command that needs it. */
  readFacts(): Promise<LocalFacts>;
  /**
   * Stores the content of a file that the job will write into the sandbox. Safe to repeat.
   * @returns the reference of the stored content
   * @throws UsageError if workers may have another store
   */
  keepInput(content: Buffer): Promise<string>;
  /**
   * Runs `calls`, which call Temporal. While the server is away, each call is repeated with the same request id, for up
   * to the configured patience. Ctrl-C ends the calls.
   */
  patiently<T>(calls: () => Promise<T>): Promise<T>;
  /**
   * Restores lost connections.
   * @throws SandflowError if a connection cannot be restored
   */
  reconnect(reporter: Notices): Promise<void>;
  close(): Promise<void>;
}

export interface OpenPlatformOptions {
  readonly io: CliIo;
  readonly reporter: Notices;
  /** Warn if no worker polls the task queues of jobs, or the clock of the local service is held. */
  readonly needsWorker: boolean;
  /** True for a command that reports whether the keys fit: it must not fail if they differ. False by default. */
  readonly keysMayDiffer?: boolean;
}

/**
 * @throws SandflowError `temporal_unreachable`, or another code if the embedded stack cannot be started or the keys
 *   differ
 */
export async function openPlatform(config: Config, options: OpenPlatformOptions): Promise<Platform> {
  const { io, reporter, needsWorker } = options;
  const configured = isFullyConfigured(config);
  const encryption = await openEncryption(config);
  if (!configured) requireStackSettings(config);
  await requireTemporal(config, { signal: io.interrupted });
  let link = await open(config, encryption, options);
  const results = openResults(config, encryption);
  const sharedResults = config.resultsShared ? results : undefined;
  let asked: Promise<LocalFacts> | undefined;
  const readFacts = () => {
    const { service } = link.addresses;
    asked ??= import('./local-facts.js').then(({ readLocalFacts }) => readLocalFacts(service));
    return asked;
  };
  const held = needsWorker ? heldText((await readFacts()).clock) : null;
  if (held !== null) reporter.notice(held);
  if (configured && needsWorker) {
    const { client } = link.temporal;
    await requireApis(client).catch(async (error: unknown) => {
      await closeLink(link);
      throw error;
    });
    await warnWithoutWorker(client, config, reporter);
  }

  const { taskQueue, promptSummaries: promptInSummary, searchAttributes: shows } = link.addresses.config;
  return {
    config: link.addresses.config,
    get temporal() {
      return link.temporal.client;
    },
    get service() {
      return link.service;
    },
    get reads() {
      return link.reads;
    },
    bridgeUrl: link.addresses.bridgeUrl,
    get ui() {
      return link.addresses.ui;
    },
    results,
    readFacts,
    patiently: (calls) =>
      link.temporal.patiently(config.patienceMs, () => abortable(link.temporal.client, io.interrupted, calls)),
    sharedResults,
    starting: { taskQueue, promptInSummary, searchAttributes: shows || undefined, results: sharedResults },
    async keepInput(content) {
      if (!sharedResults) throw new UsageError(notShared);
      const digest = createHash('sha256').update(content).digest('hex');
      return (await sharedResults.put(join('inputs', digest), content)).ref;
    },
    async reconnect(current) {
      const next = configured ? 'reconnecting' : 'restarting the embedded stack';
      current.notice(`Temporal does not answer; ${next}. Running jobs are not lost.`);
      await closeLink(link);
      link = await open(config, encryption, { ...options, reporter: current });
      current.notice('Reconnected.', 'detail');
      const before = await asked;
      asked = undefined;
      if (!before) return;
      const now = await readFacts();
      if (now.isolation.known?.text === before.isolation.known?.text) return;
      (await import('./local-facts.js')).sayLocalFacts(now, current);
    },
    close: () => closeLink(link),
  };
}

type Link = Awaited<ReturnType<typeof open>>;

async function open(
  config: Config,
  { ring, dataConverter }: Encryption,
  { io, reporter, keysMayDiffer = false }: Omit<OpenPlatformOptions, 'needsWorker'>,
) {
  const addresses = await findAddresses(config, io, reporter);
  const { patienceMs } = config;
  const signal = io.interrupted;
  const notice = (text: string) => reporter.notice(text);
  const tell = setTimeout(() => {
    const most = formatDuration(patienceMs);
    notice(`Temporal does not answer yet; waiting for up to ${most}. Press Ctrl-C to stop.`);
  }, silentMs);
  try {
    const temporal = await linkToTemporal(addresses.temporal, { timeoutMs: patienceMs, signal, dataConverter });
    if (!keysMayDiffer) {
      const { address } = splitTarget(addresses.temporal);
      const agreeing = { deployment: config.deployment, ring, timeoutMs: patienceMs, address, signal };
      const check = () => requireAgreement(temporal.client, agreeing);
      await temporal.patiently(patienceMs, check).catch(async (error: unknown) => {
        await temporal.close();
        throw error;
      });
    }
    const service = clientOf(addresses.service);
    const ask = createAsk({ apiUrl: addresses.service.apiUrl, patienceMs, signal, notice });
    return { addresses, temporal, service, reads: createServiceReads(service, ask) };
  } catch (error) {
    addresses.release();
    throw error;
  } finally {
    clearTimeout(tell);
  }
}

/** Safe to repeat: after a failed `reconnect`, the old link is already closed. */
async function closeLink({ addresses, temporal, service }: Link): Promise<void> {
  await Promise.allSettled([temporal.close(), service.close()]);
  addresses.release();
}

async function warnWithoutWorker(temporal: Client, config: Config, reporter: Notices): Promise<void> {
  // The user may lack permission to describe a task queue; a job does not depend on it.
  const missing = await queuesWithoutWorker(temporal, config.taskQueue).catch(() => []);
  if (missing.length === 0) return;
  reporter.notice(
    `No worker polls ${missing.join(', ')}: jobs of this task queue wait until one does. Start one with \`${programName} worker\`, name the queue of yours in SANDFLOW_TASK_QUEUE, or \`upgrade switch\` to the version of those that run.`,
  );
}

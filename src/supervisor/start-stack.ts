/**
 * Starts the parts of a stack in the order in which they depend on each other, and ends them in reverse. The worker
 * ends first, so that it can finish its work while the parts that it needs still run. Temporal ends last.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from '../config.js';
import { SandflowError } from '../errors/sandflow-error.js';
import { anySignal } from '../os/any-signal.js';
import { apiKeyOf } from '../os/key-file.js';
import { ensureKeyFile } from '../os/private-file.js';
import { openRotatingLog, type RotatingLog } from '../os/rotating-log.js';
import { requireTemporal } from '../temporal/require-listener.js';
import { requireProc } from '../temporal/require-proc.js';
import {
  bridgeAddress,
  bridgeCommand,
  type ChildCommand,
  localServiceCommand,
  type MainProgram,
  type StackAddresses,
  webhookUrl,
  workerCommand,
} from './children.js';
import type { StackDescription } from './control-protocol.js';
import { type KeptService, keepRunning } from './keep-running.js';
import { localServiceProgram } from './local-service-program.js';
import { choosePorts, type StackPorts } from './ports.js';
import { startReadyChild } from './ready-child.js';
import { stackPaths } from './stack-paths.js';
import { type KeepTemporalOptions, keepTemporal } from './temporal-service.js';
import { keepConnection } from './webhook-record.js';

const workerGraceMs = 15_000;
const childGraceMs = 10_000;
/** How often it looks for the secret of a bridge that waits for one, in ms. */
const pauseMs = 500;

export interface StartStackOptions extends Pick<KeepTemporalOptions, 'onProgress' | 'log' | 'signal'> {
  /** How this program is started, for the children. */
  readonly main: MainProgram;
  /** The program of the local service. Default: that of its package. */
  readonly localProgram?: MainProgram;
  /** Called when a bridge has started later than the stack, because there was no secret before. */
  readonly onLateBridge?: (stack: StackDescription) => void;
}

export type Stack = Readonly<Awaited<ReturnType<typeof startStack>>>;

/** @throws SandflowError of the part that does not start, after all parts that had started have ended */
export async function startStack(config: Config, options: StartStackOptions) {
  requireProc();
  await requireTemporal(config, { signal: options.signal });
  const paths = stackPaths(config.home);
  const ports = await choosePorts(paths.portsFile);
  const logs: RotatingLog[] = [];
  const running: KeptService[] = [];
  // If one part fails, the other stops starting: the build of a Temporal server may take minutes.
  const failure = new AbortController();
  const signal = anySignal([options.signal, failure.signal]);
  const parts = createParts(config, { ...options, signal, ports, logs });
  const sideBySide = async <A extends KeptService, B extends KeptService>(a?: Promise<A>, b?: Promise<B>) => {
    for (const start of [a, b]) start?.catch((error) => failure.abort(error));
    const settled = await Promise.allSettled([a, b] as const);
    for (const result of settled) if (result.status === 'fulfilled' && result.value) running.push(result.value);
    signal.throwIfAborted();
    return [await a, await b] as const;
  };
  let endWait = async () => {};
  const stop = async () => {
    await endWait();
    for (const service of running.toReversed()) await service.stop();
    for (const log of logs) log.close();
  };
  try {
    const [temporal, local] = await sideBySide(
      config.temporal.configured ? undefined : parts.temporal(),
      config.sandboxService ? undefined : parts.localService(),
    );
    const addresses: StackAddresses = { embeddedTemporal: temporal, localService: local };
    const hasBridge = local !== undefined || hasWebhookSecret(config);
    if (!hasBridge)
      options.onProgress(
        `no webhook secret found: the bridge starts at ${bridgeAddress(ports.bridge)} after \`sandflow webhooks connect\`; until then jobs rely on safety polls`,
      );
    const [bridge] = await sideBySide(
      hasBridge ? parts.registeredBridge(addresses) : undefined,
      parts.worker(addresses),
    );
    const { connectionOptions, namespace = 'default' } = config.temporal.connect;
    let description: StackDescription = {
      temporalAddress: temporal?.address ?? connectionOptions.address ?? '',
      namespace: temporal?.namespace ?? namespace,
      uiUrl: temporal?.url,
      sandboxApiUrl: local?.apiUrl ?? config.sandboxService?.apiUrl ?? '',
      assumed: config.assumed?.settings,
      bridgeUrl: bridge?.url,
      bridgeAddress: bridgeAddress(ports.bridge),
    };
    if (!bridge) {
      const over = new AbortController();
      const failed = (error: unknown): undefined =>
        void options.log(`the bridge could not be started: ${String(error)}`);
      const startLater = async () => {
        let late: KeptService | undefined;
        while (!late) {
          await sleep(pauseMs, undefined, { signal: over.signal });
          const look = async () => (hasWebhookSecret(config) ? parts.bridge(addresses) : undefined);
          late = await look().catch(failed);
        }
        running.push(late);
        description = { ...description, bridgeUrl: late.url };
        options.onLateBridge?.(description);
      };
      // It ends with the stack.
      const waiting = startLater().catch(() => undefined);
      endWait = () => {
        over.abort();
        return waiting;
      };
    }
    return {
      /** Changes when the bridge starts later. */
      get description() {
        return description;
      },
      /** Process ids of the parts that run now, by name. */
      pids: () => Object.fromEntries(running.map((service) => [service.name, service.pid()])),
      stop,
    };
  } catch (error) {
    // The first cause counts, whatever fails while the rest ends.
    await stop().catch((failed: unknown) => options.log(`The stack did not end in order: ${String(failed)}`));
    throw error;
  }
}

interface PartsOptions extends StartStackOptions {
  readonly ports: StackPorts;
  readonly logs: RotatingLog[];
}

type LocalService = KeptService & NonNullable<StackAddresses['localService']>;

function createParts(config: Config, options: PartsOptions) {
  const { main, localProgram, ports, logs, log, onProgress, signal } = options;
  const paths = stackPaths(config.home);
  const keep = (command: ChildCommand, graceMs: number) => {
    const file = openRotatingLog(join(paths.logDirectory, `${command.name}.log`));
    logs.push(file);
    const child = { cwd: config.home, log: file, graceMs };
    const start = (startSignal: AbortSignal) => startReadyChild(command, { ...child, signal: startSignal });
    onProgress(`starting the ${command.name}`);
    return keepRunning({ name: command.name, start, log, signal });
  };
  const bridge = (addresses: StackAddresses) =>
    keep(bridgeCommand(main, config, addresses, ports.bridge), childGraceMs);
  return {
    temporal: () => keepTemporal(config, options),
    async localService(): Promise<LocalService> {
      const { localServiceDirectory: directory, localApiKeyFile: apiKeyFile } = paths;
      await ensureKeyFile(apiKeyFile);
      const command = localServiceCommand(localProgram ?? localServiceProgram(), config, {
        port: ports.localService,
        directory,
        apiKeyFile,
      });
      const service = await keep(command, childGraceMs);
      if (service.url !== undefined) return { ...service, apiUrl: service.url, apiKeyFile };
      await service.stop();
      throw new SandflowError('child_failed', 'The local service did not report its address.');
    },
    worker: (addresses: StackAddresses) => keep(workerCommand(main, config, addresses), workerGraceMs),
    bridge,
    /** The bridge of a local service needs the secret of its registration at the start. */
    async registeredBridge(addresses: StackAddresses) {
      const { localService } = addresses;
      if (localService) await registerBridge(config, { localService, url: webhookUrl(ports.bridge) });
      return await bridge(addresses);
    },
  };
}

function hasWebhookSecret({ webhookSecrets, webhookSecretFile }: Config): boolean {
  if (webhookSecrets.length > 0) return true;
  return existsSync(webhookSecretFile) && readFileSync(webhookSecretFile, 'utf8').trim() !== '';
}

interface BridgeToRegister {
  readonly localService: NonNullable<StackAddresses['localService']>;
  /** The URL to which the service delivers. */
  readonly url: string;
}

/**
 * Registers the bridge, or adopts its registration, and saves the secret to its file. Safe to repeat.
 * @throws SandflowError `child_failed` with the reason
 */
export async function registerBridge(config: Config, { localService, url }: BridgeToRegister): Promise<void> {
  const { apiUrl, apiKeyFile } = localService;
  // Loaded only here: the supervisor of a stack with another service never needs them.
  const [{ createSandboxClient }, { ensureWebhook }] = await Promise.all([
    import('../client/create-sandbox-client.js'),
    import('../bridge/webhook-registration.js'),
  ]);
  const client = createSandboxClient({ baseUrl: apiUrl, apiKey: await apiKeyOf({ apiKeyFile }) });
  try {
    const name = `sandflow ${config.deployment}`;
    const { webhookId, action } = await ensureWebhook(client, { url, name, secretFile: config.webhookSecretFile });
    if (action === 'created' || action === 'rotated') await keepConnection(config, { apiUrl, webhookId });
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const log = join(stackPaths(config.home).logDirectory, 'local-service.log');
    const message = `The bridge could not be registered at the local service, whose log is ${log}. ${reason}`;
    throw new SandflowError('child_failed', message, { cause });
  } finally {
    await client.close();
  }
}

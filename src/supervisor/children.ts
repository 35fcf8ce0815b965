/** The command lines and environments of the stack's own child processes. The only place that knows them. */
import { join, resolve } from 'node:path';
import type { Config } from '../config.js';

/** How this program is started: `node` and the path of its main file. */
export interface MainProgram {
  readonly command: string;
  readonly args: readonly string[];
}

export interface ChildCommand {
  /** Of its log file, and in messages. */
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
}

/** Where the parts of a stack are, as far as they are known when a child starts. */
export interface StackAddresses {
  /** Of the embedded Temporal server; undefined if one is configured. */
  readonly embeddedTemporal?: { readonly address: string; readonly namespace: string };
  /** Of the local service; undefined if a service is configured. */
  readonly localService?: { readonly apiUrl: string; readonly apiKeyFile: string };
}

/** Settings that would turn a connection to the embedded server into one to somewhere else. */
const foreignTemporalSettings = ['TEMPORAL_API_KEY', 'TEMPORAL_PROFILE'];

export function supervisorCommand(main: MainProgram, config: Config): ChildCommand {
  return command('supervisor', main, config, {}, ['supervisor']);
}

export function localServiceCommand(
  main: MainProgram,
  config: Config,
  options: { readonly port: number; readonly directory: string; readonly apiKeyFile: string },
): ChildCommand {
  const { port, directory, apiKeyFile } = options;
  const args = ['--port', String(port), '--directory', directory, '--api-key-file', apiKeyFile, '--ready-json'];
  return command('local-service', main, config, {}, ['local', ...args]);
}

export function webhookUrl(bridgePort: number): string {
  return `http://127.0.0.1:${bridgePort}/webhooks/sandbox`;
}

/** Registers the bridge at the service and keeps the secret in its file; runs to its end. */
export function ensureWebhookCommand(
  main: MainProgram,
  config: Config,
  addresses: StackAddresses,
  bridgePort: number,
): ChildCommand {
  return command('webhooks', main, config, addresses, ['webhooks', 'ensure', '--url', webhookUrl(bridgePort)]);
}

export function workerCommand(main: MainProgram, config: Config, addresses: StackAddresses): ChildCommand {
  return command('worker', main, config, addresses, ['worker', '--ready-json']);
}

export function bridgeCommand(
  main: MainProgram,
  config: Config,
  addresses: StackAddresses,
  port: number,
): ChildCommand {
  return command('bridge', main, config, addresses, ['bridge', '--port', String(port), '--ready-json']);
}

/**
 * A child inherits the environment and gets over it what the supervisor has settled. `env` adds it, so that the
 * environment is not read here. Paths become absolute, since children run in the home directory. No secret is here:
 * a command line can be read by everybody on the machine.
 */
function command(
  name: string,
  main: MainProgram,
  config: Config,
  addresses: StackAddresses,
  args: readonly string[],
): ChildCommand {
  const { embeddedTemporal, localService } = addresses;
  const set: Record<string, string> = {
    SANDFLOW_HOME: config.home,
    SANDFLOW_CACHE: resolve(config.cacheDirectory),
    SANDFLOW_TASK_QUEUE: config.taskQueue,
    SANDFLOW_FORKS_PER_SECOND: String(config.forksPerSecond),
    // Its default depends on whether Temporal is configured, which it is for a child in any case.
    SANDFLOW_DEPLOYMENT: config.deployment,
    SANDBOX_WEBHOOK_SECRET_FILE: resolve(config.webhookSecretFile),
  };
  const unset: string[] = [];
  if (config.encryption) set.SANDFLOW_ENCRYPTION_KEYS_FILE = config.encryption.keysFile;
  // Its default depends on whether Temporal is configured, too.
  if (config.notify.commandsFile) set.SANDFLOW_NOTIFY_COMMANDS = config.notify.commandsFile;
  if (config.notify.secretFileNamed) set.SANDFLOW_NOTIFY_SECRET_FILE = config.notify.secretFile;
  if (config.sandboxService?.apiKeyFile) set.SANDBOX_API_KEY_FILE = resolve(config.sandboxService.apiKeyFile);
  if (embeddedTemporal) {
    set.TEMPORAL_ADDRESS = embeddedTemporal.address;
    set.TEMPORAL_NAMESPACE = embeddedTemporal.namespace;
    set.TEMPORAL_TLS = 'false';
    // A file that is not there: the user's own must not be read, and the SDK cannot read an empty one.
    set.TEMPORAL_CONFIG_FILE = join(config.home, 'no-temporal-config.toml');
    unset.push(...foreignTemporalSettings);
  }
  if (localService) {
    set.SANDBOX_API_URL = localService.apiUrl;
    set.SANDBOX_API_KEY_FILE = localService.apiKeyFile;
    unset.push('SANDBOX_API_KEY', 'SANDBOX_WEBHOOK_SECRET');
  }
  const environment = Object.entries(set).map(([variable, value]) => `${variable}=${value}`);
  const removed = unset.flatMap((variable) => ['-u', variable]);
  return { name, command: 'env', args: [...removed, ...environment, main.command, ...main.args, ...args] };
}

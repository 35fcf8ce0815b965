/** Builds the command lines and environments of the stack's child processes. No other module knows them. */
import { join } from 'node:path';
import type { Config } from '../config.js';

/** How this program is started: `node` and the path of its main file. */
export interface MainProgram {
  readonly command: string;
  readonly args: readonly string[];
}

export interface ChildCommand {
  /** Name of the child in messages, and of its log file. */
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
}

/** The addresses of the parts of a stack that are known when a child starts. */
export interface StackAddresses {
  /** Address of the embedded Temporal server; undefined if a server is configured. */
  readonly embeddedTemporal?: { readonly address: string; readonly namespace: string };
  /** Address and key file of the local service; undefined if a service is configured. */
  readonly localService?: { readonly apiUrl: string; readonly apiKeyFile: string };
}

/** Settings that would make a child connect to another server than the embedded one. */
const foreignTemporalSettings = ['TEMPORAL_API_KEY', 'TEMPORAL_PROFILE'];
/** Settings of another service than the local one. */
const foreignServiceSettings = ['SANDBOX_API_KEY', 'SANDBOX_WEBHOOK_SECRET'];
/** What requests need for another service than the specification shows. */
export const formSettings = ['SANDBOX_API_HEADER_PREFIX', 'SANDBOX_API_OMIT', 'SANDBOX_API_UUID_KEYS'] as const;

export function supervisorCommand(main: MainProgram, config: Config): ChildCommand {
  return command('supervisor', main, config, {}, ['supervisor', ...assumeOf(config)]);
}

export function localServiceCommand(
  program: MainProgram,
  config: Config,
  options: { readonly port: number; readonly directory: string; readonly apiKeyFile: string },
): ChildCommand {
  return command('local-service', program, config, {}, [
    ...['--port', String(options.port), '--directory', options.directory, '--api-key-file', options.apiKeyFile],
    ...['--config-if-present', join(config.home, 'local-service.json'), ...assumeOf(config), '--ready-json'],
  ]);
}

function assumeOf({ assumed }: Config): readonly string[] {
  return assumed ? ['--assume', assumed.file] : [];
}

export function bridgeAddress(bridgePort: number): string {
  return `http://127.0.0.1:${bridgePort}`;
}

export function webhookUrl(bridgePort: number): string {
  return `${bridgeAddress(bridgePort)}/webhooks/sandbox`;
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
  // No balancer is in front of it.
  const args = ['--port', String(port), '--drain', '0', '--ready-json'];
  return command('bridge', main, config, addresses, ['bridge', ...args]);
}

/**
 * Builds a command line. A child inherits the environment, and the supervisor's settings override it. The program `env`
 * sets them, so that the environment is not read here. Paths are absolute, since children run in the home directory.
 * The command line contains no secret: everybody on the machine can read it.
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
    ...config.paths,
    SANDFLOW_HOME: config.home,
    SANDFLOW_TASK_QUEUE: config.taskQueue,
    SANDFLOW_FORKS_PER_SECOND: String(config.forksPerSecond),
    // The default of this setting depends on whether Temporal is configured. For a child it always is.
    SANDFLOW_DEPLOYMENT: config.deployment,
  };
  // Else half the memory of its jobs is what its threads have freed (docs/measurements.md#memory-of-a-worker).
  if (name === 'worker') set.MALLOC_TRIM_THRESHOLD_ = '131072';
  // Nobody switches the stack to a version, and without that its worker would get nothing to do.
  const unset: string[] = ['SANDFLOW_BUILD_ID'];
  if (embeddedTemporal) {
    set.TEMPORAL_ADDRESS = embeddedTemporal.address;
    set.TEMPORAL_NAMESPACE = embeddedTemporal.namespace;
    set.TEMPORAL_TLS = 'false';
    // This file does not exist. The user's own file must not be read, and the SDK cannot read an empty file.
    set.TEMPORAL_CONFIG_FILE = join(config.home, 'no-temporal-config.toml');
    unset.push(...foreignTemporalSettings);
  }
  if (localService) {
    set.SANDBOX_API_URL = localService.apiUrl;
    set.SANDBOX_API_KEY_FILE = localService.apiKeyFile;
    // A local service that plays another one needs the settings of that one. Those of the environment win.
    const { assumed, variables = [] } = config;
    unset.push(...foreignServiceSettings, ...(assumed ? [] : formSettings));
    const missing = Object.entries(assumed?.settings ?? {}).filter(([name]) => !variables.includes(name));
    Object.assign(set, Object.fromEntries(missing));
  }
  const environment = Object.entries(set).map(([variable, value]) => `${variable}=${value}`);
  const removed = unset.flatMap((variable) => ['-u', variable]);
  return { name, command: 'env', args: [...removed, ...environment, main.command, ...main.args, ...args] };
}

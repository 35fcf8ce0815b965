/** The current settings and the source of each, for `config` and `doctor`. Contains no secret. */
import { type Config, type ConnectionName, connectionVariables } from '../../config.js';
import type { CommandContext } from '../command.js';
import { targetText } from '../notify/warn-undelivered.js';
import { jobDefaults } from './job-defaults.js';
import { readProfile } from './profile.js';

export interface Setting {
  readonly name: string;
  /** Null if the setting has no value. A secret is `(set)`. */
  readonly value: string | null;
  /** `environment VARIABLE`, `profile NAME`, a file, or `built-in`. */
  readonly from: string;
}

export interface Settings {
  /** Null if no profile is chosen. */
  readonly profile: string | null;
  /** Null if there is no such file. */
  readonly userFile: string | null;
  readonly projectFile: string | null;
  readonly settings: readonly Setting[];
}

/** The source of a setting that nobody has set. */
export const builtIn = 'built-in';
const hidden = '(set)';

/** @throws SandflowError as `readProfile` */
export async function readSettings(config: Config, { io, profile: named }: CommandContext): Promise<Settings> {
  const profile = await readProfile(config, { named: named ?? config.profile, cwd: io.cwd });
  const { name = null, userFile = null, projectFile = null, layers } = profile;
  const defaults = (['run', 'fanout'] as const).flatMap((command) =>
    [...jobDefaults(command, {}, layers[command])].map(([option, { value, from }]) => ({
      name: `${command}.${option}`,
      value: option === 'notify' ? targetText(String(value)) : [value].flat().join(', '),
      from,
    })),
  );
  return { profile: name, userFile, projectFile, settings: [...ownSettings(config, name), ...defaults] };
}

/** The settings that do not depend on the project. @param profile the chosen profile */
export function ownSettings(config: Config, profile: string | null): Setting[] {
  const { sandboxService, temporal, notify, encryption, origins = {} } = config;
  const { address } = temporal.connect.connectionOptions;
  const connection: Readonly<Record<ConnectionName, string | undefined>> = {
    apiUrl: sandboxService?.apiUrl,
    apiKeyFile: sandboxService?.apiKeyFile,
    temporalAddress: address || undefined,
    temporalNamespace: temporal.connect.namespace ?? 'default',
    temporalUi: temporal.uiUrl,
    deployment: config.deployment,
    taskQueue: config.taskQueue,
    results: config.results,
  };
  const variables = new Set(config.variables);
  const own = (name: string, variable: string, value: string | number | boolean | undefined): Setting => ({
    name,
    value: value === undefined ? null : String(value),
    from: variables.has(variable) ? `environment ${variable}` : builtIn,
  });
  const secret = (name: string, variable: string) => own(name, variable, variables.has(variable) ? hidden : undefined);
  const rows = [
    own('home', 'SANDFLOW_HOME', config.home),
    ...(Object.entries(connection) as [ConnectionName, string | undefined][]).map(([name, value]) => ({
      name,
      value: value ?? null,
      from: originOf(name, { origins, profile, isInTemporalFile: isInTemporalFile(name, value) }),
    })),
    secret('apiKey', 'SANDBOX_API_KEY'),
    own('apiAllowHttp', 'SANDBOX_API_ALLOW_HTTP', variables.has('SANDBOX_API_ALLOW_HTTP') ? 'set' : undefined),
    secret('temporalApiKey', 'TEMPORAL_API_KEY'),
    secret('webhookSecret', 'SANDBOX_WEBHOOK_SECRET'),
    own('webhookSecretFile', 'SANDBOX_WEBHOOK_SECRET_FILE', config.webhookSecretFile),
    own('notifyCommands', 'SANDFLOW_NOTIFY_COMMANDS', notify.commandsFile),
    own('notifySecretFile', 'SANDFLOW_NOTIFY_SECRET_FILE', notify.secretFile),
    own('encryptionKeysFile', 'SANDFLOW_ENCRYPTION_KEYS_FILE', encryption?.keysFile),
    own('requireEncrypted', 'SANDFLOW_REQUIRE_ENCRYPTED', encryption?.requireEncrypted ?? false),
    own('promptSummaries', 'SANDFLOW_PROMPT_SUMMARIES', config.promptSummaries),
    own('forksPerSecond', 'SANDFLOW_FORKS_PER_SECOND', config.forksPerSecond),
    own('patienceSeconds', 'SANDFLOW_PATIENCE_SECONDS', config.patienceMs / 1_000),
    own('idleSeconds', 'SANDFLOW_IDLE_SECONDS', config.idleMs / 1_000),
    own('cache', 'SANDFLOW_CACHE', config.cacheDirectory),
  ];
  const named = new Set([...rows.map(({ from }) => from.replace('environment ', '')), 'SANDFLOW_PROFILE']);
  const others = [...variables].filter((name) => name.startsWith('TEMPORAL_') && !named.has(name));
  return [...rows, ...others.sort().map((name) => ({ name, value: hidden, from: `environment ${name}` }))];
}

interface Origin {
  readonly origins: NonNullable<Config['origins']>;
  readonly profile: string | null;
  readonly isInTemporalFile: boolean;
}

function originOf(name: ConnectionName, { origins, profile, isInTemporalFile }: Origin): string {
  const origin = origins[name];
  if (origin === 'environment') return `environment ${connectionVariables[name]}`;
  if (origin === 'profile') return `profile ${profile}`;
  return isInTemporalFile ? "Temporal's configuration file" : builtIn;
}

/** True if a value that is not set by the environment or a profile comes from Temporal's own configuration file. */
function isInTemporalFile(name: ConnectionName, value: string | undefined): boolean {
  if (name === 'temporalAddress') return value !== undefined;
  return name === 'temporalNamespace' && value !== 'default';
}

/** `sandflow config`: the current settings and the source of each. Shows no secret. */
import type { Config } from '../../config.js';
import type { CommandContext, JsonOption } from '../command.js';
import { printJson } from '../output/json.js';
import { formatTable } from '../output/table.js';
import { oneLine } from '../output/terminal-safe.js';
import { optionsOfFile } from '../settings/file-values.js';
import { readProject } from '../settings/project-file.js';

export type Setting = ReturnType<typeof ownSettings>[number];

/** The source of a setting that nobody has set. */
const builtIn = 'built-in';
const temporalFile = "Temporal's configuration file";
const hidden = '(set)';

/** @throws SandflowError as `readProject` */
export async function showConfig({ json }: JsonOption, { io }: CommandContext): Promise<void> {
  const config = await io.readConfig();
  const project = await readProject(io.cwd);
  const defaults = (['run', 'fanout'] as const).flatMap((command) =>
    [...optionsOfFile(command, {}, project?.settings[command] ?? {})].map(([option, value]) => ({
      name: `${command}.${option}`,
      value: [value].flat().join(', '),
      from: project?.path ?? builtIn,
    })),
  );
  const projectFile = project?.path ?? null;
  const settings = [...ownSettings(config), ...defaults];
  if (json) return printJson(io.stdout, { projectFile, settings, error: null });
  // The value is last: a long path wraps, and leaves the other rows as they are.
  const rows = settings.map(({ name, value, from }) => [name, from, value ?? '']);
  const table = formatTable(['SETTING', 'FROM', 'VALUE'], rows);
  io.stdout.write(`project file  ${oneLine(projectFile ?? 'none')}\n\n${table}`);
}

/**
 * The settings that do not depend on the project.
 * @returns `value`: null if the setting has none, `(set)` for a secret; `from`: `environment VARIABLE`, a file, or `built-in`
 */
function ownSettings(config: Config) {
  const { sandboxService, temporal, notify, encryption } = config;
  const { namespace, connectionOptions } = temporal.connect;
  const variables = new Set(config.variables);
  const own = (name: string, variable: string, value: string | number | boolean | undefined, otherwise = builtIn) => ({
    name,
    value: value === undefined ? null : String(value),
    from: variables.has(variable) ? `environment ${variable}` : otherwise,
  });
  const secret = (name: string, variable: string) => own(name, variable, variables.has(variable) ? hidden : undefined);
  const ofTemporalFile = (name: string, variable: string, value: string | undefined, otherwise?: string) =>
    own(name, variable, value ?? otherwise, value === undefined || value === otherwise ? builtIn : temporalFile);
  const rows = [
    own('home', 'SANDFLOW_HOME', config.home),
    own('apiUrl', 'SANDBOX_API_URL', sandboxService?.apiUrl),
    own('apiKeyFile', 'SANDBOX_API_KEY_FILE', sandboxService?.apiKeyFile),
    ofTemporalFile('temporalAddress', 'TEMPORAL_ADDRESS', connectionOptions.address || undefined),
    ofTemporalFile('temporalNamespace', 'TEMPORAL_NAMESPACE', namespace, 'default'),
    own('temporalUi', 'SANDFLOW_TEMPORAL_UI', temporal.uiUrl),
    own('deployment', 'SANDFLOW_DEPLOYMENT', config.deployment),
    own('taskQueue', 'SANDFLOW_TASK_QUEUE', config.taskQueue),
    own('results', 'SANDFLOW_RESULTS', config.results),
    own('secrets', 'SANDFLOW_SECRETS', config.secrets),
    secret('apiKey', 'SANDBOX_API_KEY'),
    own('apiAllowHttp', 'SANDBOX_API_ALLOW_HTTP', variables.has('SANDBOX_API_ALLOW_HTTP') ? 'set' : undefined),
    own('apiHeaderPrefix', 'SANDBOX_API_HEADER_PREFIX', sandboxService?.headerPrefix),
    own('apiOmit', 'SANDBOX_API_OMIT', sandboxService?.omit?.join() || undefined),
    own('apiUuidKeys', 'SANDBOX_API_UUID_KEYS', sandboxService?.uuidKeys ?? false),
    secret('temporalApiKey', 'TEMPORAL_API_KEY'),
    secret('webhookSecret', 'SANDBOX_WEBHOOK_SECRET'),
    own('webhookSecretFile', 'SANDBOX_WEBHOOK_SECRET_FILE', config.webhookSecretFile),
    own('notifySecretFile', 'SANDFLOW_NOTIFY_SECRET_FILE', notify.secretFile),
    own('encryptionKeysFile', 'SANDFLOW_ENCRYPTION_KEYS_FILE', encryption?.keysFile),
    own('requireEncrypted', 'SANDFLOW_REQUIRE_ENCRYPTED', encryption?.requireEncrypted ?? false),
    own('promptSummaries', 'SANDFLOW_PROMPT_SUMMARIES', config.promptSummaries),
    own('searchAttributes', 'SANDFLOW_SEARCH_ATTRIBUTES', config.searchAttributes),
    own('forksPerSecond', 'SANDFLOW_FORKS_PER_SECOND', config.forksPerSecond),
    own('buildId', 'SANDFLOW_BUILD_ID', config.buildId),
    own('patienceSeconds', 'SANDFLOW_PATIENCE_SECONDS', config.patienceMs / 1_000),
    own('idleSeconds', 'SANDFLOW_IDLE_SECONDS', config.idleMs / 1_000),
    own('cache', 'SANDFLOW_CACHE', config.cacheDirectory),
  ];
  const named = new Set(rows.map(({ from }) => from.replace('environment ', '')));
  const others = [...variables].filter((name) => name.startsWith('TEMPORAL_') && !named.has(name));
  return [...rows, ...others.sort().map((name) => ({ name, value: hidden, from: `environment ${name}` }))];
}

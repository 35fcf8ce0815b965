/** Makes the settings of sandflow from the environment. Other modules receive the settings that they need. */

import { createHash } from 'node:crypto';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { buildIdProblem, deploymentProblem } from './addresses/addresses.js';
import { isHeaderPrefix, type OmittableField, omittableFields, type RequestForm } from './contract/request-form.js';
import { defaultForksPerSecond } from './contract/workflow-safe/limits.js';
import { SandflowError } from './errors/sandflow-error.js';
import { homeFolder } from './os/home-folder.js';
import { headerSecret, keepSecret, keepUrlSecrets } from './secrecy/known-secrets.js';
import { webhookSecretsIn } from './secrecy/webhook-secrets.js';
import { type Environment, knownVariables, pathsIn, readEnvironment } from './settings/environment.js';
import { readTemporalConfig, type TemporalConfig } from './temporal-config.js';
import { isBucketAddress } from './texts/bucket-address.js';
import { isLoopbackHost, serverUrlProblem, withoutEndSlashes } from './texts/urls.js';

/** The configuration that `readConfig` reads from the environment. */
export interface Config {
  /** The configured Sandbox Service. If none is configured, a local service is used. */
  readonly sandboxService?: {
    /** Base URL up to and including the version, without a trailing slash. */
    readonly apiUrl: string;
    /** The key, or undefined if only `apiKeyFile` is set. */
    readonly apiKey?: string;
    /** Read again at each call, so that the key can be replaced while a worker runs. */
    readonly apiKeyFile?: string;
  } & RequestForm;
  /**
   * A message that says which setting is missing, if no service is configured although other settings show that there
   * should be one. No local service is then used. Undefined if a service is configured, or if a local service may be used.
   */
  readonly noLocalService?: string;
  /** Webhook signing secrets, newest first. Several are accepted at once during a rotation. */
  readonly webhookSecrets: readonly string[];
  /** File of the webhook secrets, one per line, mode 600. */
  readonly webhookSecretFile: string;
  /** Files that a worker needs to deliver notifications. */
  readonly notify: {
    /** File of the secrets that sign notifications, one per line, mode 600. */
    readonly secretFile: string;
    /** True if the secret file was named. A missing file is then not created. */
    readonly secretFileNamed: boolean;
  };
  readonly temporal: TemporalConfig & {
    /** Address of the UI of the configured server, for links. */
    readonly uiUrl?: string;
  };
  /** Name of this installation, which distinguishes it from others on the same account. */
  readonly deployment: string;
  /** Task queue of the workers that run jobs. */
  readonly taskQueue: string;
  /** The version of this build's workers, for Temporal's worker versioning. Undefined: their versions are not told. */
  readonly buildId?: string;
  /** Maximum number of forks per second that all workers together create for batches. */
  readonly forksPerSecond: number;
  /** How long a command retries if the service or Temporal does not answer, in ms. */
  readonly patienceMs: number;
  /** How long the embedded stack stays up with no command and no open job, in ms. */
  readonly idleMs: number;
  /** Directory of secrets and of the embedded stack's state. Results are also stored here, unless SANDFLOW_RESULTS is set. */
  readonly home: string;
  /** A directory, or the address of a bucket with the prefix of this deployment. */
  readonly results: string;
  /** As `results`, for the secrets that the service shows once. */
  readonly secrets: string;
  /** True if every worker uses the result store: SANDFLOW_RESULTS names it, or all workers run on this machine. */
  readonly resultsShared: boolean;
  /** Directory of files that can be created again, such as a Temporal server that was built. */
  readonly cacheDirectory: string;
  /** Undefined if payloads are not encrypted. */
  readonly encryption?: {
    /** Absolute path of the key ring, with one key per line. The first key encrypts. */
    readonly keysFile: string;
    /** True if workers refuse data that is not encrypted. */
    readonly requireEncrypted: boolean;
  };
  /** Names of the variables in the environment that look like settings of sandflow or of Temporal. */
  readonly variables?: readonly string[];
  /** The variables in the environment that name paths, as absolute paths. Child processes run in another folder. */
  readonly paths?: Readonly<Record<string, string>>;
  /** What a stack plays; from `--assume`, and not from the environment. */
  readonly assumed?: { readonly file: string; readonly settings: Readonly<Record<string, string>> };
  /** What TZ holds, which need not be the name of a time zone. Undefined if it is not set. */
  readonly timeZone?: string;
  /** True if summaries, which Temporal shows in its lists, may begin with a prompt. */
  readonly promptSummaries: boolean;
  /** True if jobs and batches are started with search attributes. */
  readonly searchAttributes: boolean;
}

/** Every variable that holds a setting of sandflow, and the common ones of Temporal. */
export const settingVariables: readonly string[] = [...knownVariables.keys()].filter(isSetting);

/**
 * Reads and checks the settings. From then on their secrets are removed from the output of this process.
 * @throws SandflowError `bad_configuration` with the name of the variable and what it should hold
 * @example
 * const { deployment, taskQueue } = readConfig();
 */
export function readConfig(given?: Environment): Config {
  const env = readEnvironment(given);
  keepOtherSecrets(env);
  const inHome = (...folders: string[]) => join(env.HOME ?? homeFolder(), ...folders);
  const home = env.SANDFLOW_HOME ?? join(env.XDG_STATE_HOME ?? inHome('.local', 'state'), 'sandflow');
  const temporal = readTemporalConfig(env);
  const deployment = env.SANDFLOW_DEPLOYMENT ?? (temporal.configured ? 'default' : deploymentOfHome(home));
  const problem = deploymentProblem(deployment);
  if (problem) throw new SandflowError('bad_configuration', `SANDFLOW_DEPLOYMENT: ${problem}.`);
  const ofBuild = env.SANDFLOW_BUILD_ID === undefined ? undefined : buildIdProblem(env.SANDFLOW_BUILD_ID);
  if (ofBuild) throw new SandflowError('bad_configuration', `SANDFLOW_BUILD_ID ${ofBuild}.`);
  return {
    sandboxService: sandboxServiceConfig(env),
    noLocalService: noLocalService(env, temporal.configured),
    webhookSecrets: webhookSecretsIn(env.SANDBOX_WEBHOOK_SECRET ?? '', 'SANDBOX_WEBHOOK_SECRET'),
    webhookSecretFile: env.SANDBOX_WEBHOOK_SECRET_FILE ?? join(home, 'webhook-secrets'),
    notify: notifyConfig(env, home),
    temporal: { ...temporal, uiUrl: uiUrl(env) },
    deployment,
    taskQueue: env.SANDFLOW_TASK_QUEUE ?? 'sandflow',
    buildId: env.SANDFLOW_BUILD_ID,
    forksPerSecond: Number(env.SANDFLOW_FORKS_PER_SECOND ?? defaultForksPerSecond),
    patienceMs: 1_000 * Number(env.SANDFLOW_PATIENCE_SECONDS ?? 60),
    idleMs: 1_000 * Number(env.SANDFLOW_IDLE_SECONDS ?? 300),
    home,
    results: storeIn(env.SANDFLOW_RESULTS, deployment, 'results') ?? join(home, 'results'),
    secrets: storeIn(env.SANDFLOW_SECRETS, deployment, 'secrets') ?? join(home, 'secrets'),
    resultsShared: Boolean(env.SANDFLOW_RESULTS) || !(temporal.configured && env.SANDBOX_API_URL),
    cacheDirectory: env.SANDFLOW_CACHE ?? join(env.XDG_CACHE_HOME ?? inHome('.cache'), 'sandflow'),
    encryption: encryptionConfig(env),
    variables: Object.keys(env).filter((name) => env[name] && isSetting(name)),
    paths: pathsIn(env),
    timeZone: env.TZ,
    searchAttributes: env.SANDFLOW_SEARCH_ATTRIBUTES === 'true',
    promptSummaries: (env.SANDFLOW_PROMPT_SUMMARIES ?? String(!env.SANDFLOW_ENCRYPTION_KEYS_FILE)) === 'true',
  };
}

/** Where a store is that a setting names. Deployments and kinds of stores share no object of the same address. */
export function storeIn<Place extends string | undefined>(
  place: Place,
  deployment: string,
  kind: string,
): Place | string {
  return place && isBucketAddress(place) ? `${withoutEndSlashes(place)}/${deployment}/${kind}` : place;
}

function isSetting(name: string): boolean {
  return /^(?:SANDBOX|SANDFLOW|TEMPORAL)_/.test(name);
}

function notifyConfig(env: Environment, home: string): Config['notify'] {
  return {
    secretFile: env.SANDFLOW_NOTIFY_SECRET_FILE ?? join(home, 'notify-secrets'),
    secretFileNamed: Boolean(env.SANDFLOW_NOTIFY_SECRET_FILE),
  };
}

function encryptionConfig(env: Environment): Config['encryption'] {
  const requireEncrypted = env.SANDFLOW_REQUIRE_ENCRYPTED === 'true';
  if (env.SANDFLOW_ENCRYPTION_KEYS_FILE) {
    return { keysFile: env.SANDFLOW_ENCRYPTION_KEYS_FILE, requireEncrypted };
  }
  if (!requireEncrypted) return undefined;
  throw new SandflowError(
    'bad_configuration',
    'SANDFLOW_REQUIRE_ENCRYPTED is set without keys. Set SANDFLOW_ENCRYPTION_KEYS_FILE to the file that holds them.',
  );
}

/** Secrets that only libraries use. They may quote them, as a part of a URL for example. */
function keepOtherSecrets(env: Environment): void {
  const names = ['TEMPORAL_CODEC_AUTH', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN'];
  for (const name of names) keepSecret(env[name] ?? '');
  for (const [name, value] of Object.entries(env)) if (value && /_proxy$/i.test(name)) keepUrlSecrets(value);
}

function sandboxServiceConfig(env: Environment): Config['sandboxService'] {
  if (!env.SANDBOX_API_URL) return undefined;
  // Messages name the URL, and paths are appended to it.
  const problem = serverUrlProblem(env.SANDBOX_API_URL);
  if (problem) {
    const message = `SANDBOX_API_URL ${problem}. Put the key into SANDBOX_API_KEY or SANDBOX_API_KEY_FILE.`;
    throw new SandflowError('bad_configuration', message);
  }
  const url = new URL(env.SANDBOX_API_URL);
  if (!env.SANDBOX_API_KEY && !env.SANDBOX_API_KEY_FILE) {
    throw new SandflowError(
      'bad_configuration',
      'SANDBOX_API_URL is set without a key. Set SANDBOX_API_KEY, or SANDBOX_API_KEY_FILE to a file that holds it.',
    );
  }
  if (url.protocol === 'http:' && env.SANDBOX_API_ALLOW_HTTP !== 'true' && !isLoopbackHost(url.hostname)) {
    throw new SandflowError(
      'bad_configuration',
      `SANDBOX_API_URL: http:// to ${url.hostname} would send the key unencrypted. Use https://, or set SANDBOX_API_ALLOW_HTTP=true ` +
        'on a trusted network.',
    );
  }
  return {
    apiUrl: withoutEndSlashes(url.toString()),
    apiKey: env.SANDBOX_API_KEY ? headerSecret('SANDBOX_API_KEY', env.SANDBOX_API_KEY) : undefined,
    apiKeyFile: env.SANDBOX_API_KEY_FILE,
    ...requestForm(env),
  };
}

/** @throws SandflowError `bad_configuration` */
export function requestForm(env: Environment): RequestForm {
  const headerPrefix = env.SANDBOX_API_HEADER_PREFIX?.toLowerCase();
  if (headerPrefix !== undefined && !isHeaderPrefix(headerPrefix)) {
    const message =
      'SANDBOX_API_HEADER_PREFIX must be how the names of the headers begin, with a hyphen at its end, like X-Svc-.';
    throw new SandflowError('bad_configuration', message);
  }
  const omit = env.SANDBOX_API_OMIT?.split(',').map((name) => name.trim());
  const isOmittable = (name: string): name is OmittableField => (omittableFields as readonly string[]).includes(name);
  if (omit !== undefined && !omit.every(isOmittable)) {
    const message = `SANDBOX_API_OMIT must be some of ${omittableFields.join(', ')}, separated by commas.`;
    throw new SandflowError('bad_configuration', message);
  }
  return { headerPrefix, omit, uuidKeys: env.SANDBOX_API_UUID_KEYS === 'true' || undefined };
}

function uiUrl(env: Environment): string | undefined {
  if (!env.SANDFLOW_TEMPORAL_UI) return undefined;
  // Links and `config` show it.
  const problem = serverUrlProblem(env.SANDFLOW_TEMPORAL_UI);
  if (problem) throw new SandflowError('bad_configuration', `SANDFLOW_TEMPORAL_UI ${problem}.`);
  return env.SANDFLOW_TEMPORAL_UI;
}

function noLocalService(env: Environment, temporalConfigured: boolean): string | undefined {
  if (env.SANDBOX_API_URL) return undefined;
  const key = ['SANDBOX_API_KEY', 'SANDBOX_API_KEY_FILE'].find((name) => env[name]);
  if (key)
    return `${key} is set without SANDBOX_API_URL. Set the URL of the service, or unset the key to use a local service.`;
  if (!temporalConfigured) return undefined;
  return (
    'A Temporal server is configured (TEMPORAL_ADDRESS or a Temporal configuration file), but no service is. Set ' +
    'SANDBOX_API_URL and SANDBOX_API_KEY. To use a local service, start it with `sandflow local` and set its URL and key here ' +
    'and for the workers.'
  );
}

/**
 * The default deployment of an embedded installation. It differs for each installation, because two installations on
 * one account must not share a deployment. It stays the same without a file that stores it.
 */
function deploymentOfHome(home: string): string {
  return createHash('sha256').update(`${hostname()}\n${home}`).digest('hex').slice(0, 6);
}

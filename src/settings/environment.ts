/**
 * Reads the environment. Here is the one list of the variables that this program knows. Empty ones did not count as
 * unset: `TEMPORAL_NAMESPACE=` led to no namespace, and `HOME=` put secrets into the current folder.
 */
import { resolve } from 'node:path';
import { SandflowError } from '../errors/sandflow-error.js';
import { bucketAddressProblem, isBucketAddress } from '../texts/bucket-address.js';
import { mistakenPath, mistakenSecret, mistakenText } from './mistaken-text.js';
import { unifyProxySettings } from './proxies.js';

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * What variables hold. A `path` may be relative to the current folder. A `place`, where this program writes or a secret
 * is, must say so by `./`: else a secret in place of the name of its file would be printed as a file that does not exist.
 * A `folder` must be a whole path: others set it, for all programs. A `store` is a place, or `s3://bucket/prefix`.
 */
const kinds = {
  folder: ['HOME', 'TEMP', 'TMP', 'TMPDIR', 'XDG_CACHE_HOME', 'XDG_CONFIG_HOME', 'XDG_STATE_HOME'],
  number: ['SANDFLOW_FORKS_PER_SECOND', 'SANDFLOW_IDLE_SECONDS', 'SANDFLOW_PATIENCE_SECONDS'],
  path: [
    'NODE_EXTRA_CA_CERTS',
    'SSL_CERT_FILE',
    'TEMPORAL_CONFIG_FILE',
    'TEMPORAL_TLS_CLIENT_CERT_PATH',
    'TEMPORAL_TLS_SERVER_CA_CERT_PATH',
  ],
  place: [
    'SANDBOX_API_KEY_FILE',
    'SANDBOX_WEBHOOK_SECRET_FILE',
    'SANDFLOW_CACHE',
    'SANDFLOW_ENCRYPTION_KEYS_FILE',
    'SANDFLOW_HOME',
    'SANDFLOW_NOTIFY_SECRET_FILE',
    'TEMPORAL_TLS_CLIENT_KEY_PATH',
  ],
  store: ['SANDFLOW_RESULTS', 'SANDFLOW_SECRETS'],
  secret: [
    ...['SANDBOX_API_KEY', 'SANDBOX_WEBHOOK_SECRET', 'TEMPORAL_API_KEY', 'TEMPORAL_CODEC_AUTH'],
    ...['TEMPORAL_TLS_CLIENT_CERT_DATA', 'TEMPORAL_TLS_CLIENT_KEY_DATA', 'TEMPORAL_TLS_SERVER_CA_CERT_DATA'],
    ...bothCases(['GRPC_PROXY', 'HTTP_PROXY', 'HTTPS_PROXY', 'NO_GRPC_PROXY', 'NO_PROXY']),
  ],
  switch: [
    ...['SANDBOX_API_ALLOW_HTTP', 'SANDBOX_API_UUID_KEYS', 'SANDFLOW_PROMPT_SUMMARIES', 'SANDFLOW_REQUIRE_ENCRYPTED'],
    ...['SANDFLOW_SEARCH_ATTRIBUTES', 'TEMPORAL_TLS', 'TEMPORAL_TLS_DISABLE_HOST_VERIFICATION'],
  ],
  text: [
    ...[
      'SANDBOX_API_HEADER_PREFIX',
      'SANDBOX_API_OMIT',
      'SANDBOX_API_URL',
      'SANDFLOW_BUILD_ID',
      'SANDFLOW_DEPLOYMENT',
      'SANDFLOW_TASK_QUEUE',
      'SANDFLOW_TEMPORAL_UI',
      'TEMPORAL_ADDRESS',
    ],
    ...['TEMPORAL_NAMESPACE', 'TEMPORAL_PROFILE', 'TEMPORAL_TLS_SERVER_NAME', 'TZ'],
  ],
} as const;

type Kind = keyof typeof kinds;

/** In seconds, 30 years. JavaScript has no date after a much longer time. */
const largestNumber = 1_000_000_000;

/** Every variable that is read, with what it holds. */
export const knownVariables: ReadonlyMap<string, Kind> = new Map(
  (Object.keys(kinds) as Kind[]).flatMap((kind) => kinds[kind].map((name) => [name, kind] as const)),
);

/** Says what is wrong with a value, without quoting it, as the end of a message; undefined if it can be meant. */
const problems: Readonly<Record<Kind, (value: string) => string | undefined>> = {
  folder: (value) =>
    mistakenPath(value) ?? (value.startsWith('/') ? undefined : 'must be a whole path, which begins with /'),
  number: (value) =>
    Number(value) > 0 && Number(value) <= largestNumber
      ? undefined
      : `must be a number above 0, like 20 or 0.5, and at most ${largestNumber}`,
  path: (value) => mistakenPath(value) ?? mistakenPath(resolve(value)),
  place: (value) =>
    problems.path(value) ??
    (/^\.{0,2}\//.test(value) ? undefined : 'must be a whole path. For one in the current folder, write ./ before it'),
  store: (value) => (isBucketAddress(value.trim()) ? bucketAddressProblem(value.trim()) : problems.place(value)),
  secret: (value) => mistakenSecret(value.trim()),
  switch: (value) => (switchOf(value) === undefined ? 'must be true or false' : undefined),
  text: (value) => mistakenText(value.trim()),
};

function switchOf(value: string): boolean | undefined {
  if (/^(?:true|1|yes|on)$/i.test(value.trim())) return true;
  return /^(?:false|0|no|off)$/i.test(value.trim()) ? false : undefined;
}

/**
 * Checks the variables that this program knows. Those that are empty, or blank, are left out. Blanks and line ends around
 * a value are removed, paths are absolute, and a setting that is on or off is `true` or `false`.
 * @param given default: the environment of this process
 * @throws SandflowError `bad_configuration` with the name of the variable, and not its value
 */
export function readEnvironment(given: Environment = process.env): Environment {
  const read: Record<string, string> = {};
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined) continue;
    requireName(name);
    const kind = knownVariables.get(name);
    if (kind === undefined) read[name] = value;
    if (kind === undefined || value.trim() === '') continue;
    const problem = namesVariable(value) ?? problems[kind](value);
    if (problem !== undefined) throw new SandflowError('bad_configuration', `${name} ${problem}.`);
    if (kind === 'switch') read[name] = String(switchOf(value));
    else read[name] = isPath(kind, value) ? resolve(value) : value.trim();
  }
  return read;
}

const isPath = (kind: Kind, value: string) =>
  kind === 'path' || kind === 'place' || (kind === 'store' && !isBucketAddress(value.trim()));

/** The variables of an environment that name paths, which `readEnvironment` has made absolute. */
export function pathsIn(env: Environment): Readonly<Record<string, string>> {
  const paths = [...kinds.path, ...kinds.place, ...kinds.store].map((name) => [name, env[name]] as const);
  return Object.fromEntries(paths.filter((entry): entry is [(typeof entry)[0], string] => entry[1] !== undefined));
}

/** `docker run --env-file` and others take a line `export NAME=` for a variable called `export NAME`. */
function requireName(name: string): void {
  const meant = /^\W*(?:export\s+)?(\w+)\s*$/.exec(name)?.[1];
  if (meant === undefined || meant === name || !knownVariables.has(meant)) return;
  const message = `${meant} is set under the name ${JSON.stringify(name)}. Leave out all but ${meant}, such as the word export.`;
  throw new SandflowError('bad_configuration', message);
}

/** Such tools take a line `NAME=NAME=value`, and a value that was pasted with its `export`, as they are. */
function namesVariable(value: string): string | undefined {
  const [, word, name = ''] = /^\s*(export\s+)?(\w*)=?/.exec(value) ?? [];
  const isNamed = word !== undefined || (knownVariables.has(name) && value.includes(`${name}=`));
  return isNamed ? 'begins with the name of a variable. Leave it out' : undefined;
}

/** The proxies that this process has to use. @throws SandflowError as `readEnvironment` */
export function readProxies(): Environment {
  return readEnvironment(Object.fromEntries(Object.entries(process.env).filter(([name]) => isProxy(name))));
}

/** Gives HTTPS_PROXY, HTTP_PROXY and NO_PROXY one meaning for this process and its children. Safe to repeat. */
export function shareProxies(): void {
  const shared = { ...readProxies() };
  unifyProxySettings(shared);
  // A library takes a blank one for a URL.
  for (const name of Object.keys(process.env)) if (isProxy(name)) process.env[name] = '';
  Object.assign(process.env, shared);
}

const isProxy = (name: string) => /_proxy$/i.test(name);

function bothCases(names: readonly string[]): string[] {
  return [...names, ...names.map((name) => name.toLowerCase())];
}

/** How to reach Temporal: its own settings in the environment and in its configuration file. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { existsSync } from 'node:fs';
import {
  type ClientConfigProfile,
  type ClientConfigTLS,
  type ClientConnectConfig,
  loadClientConfigProfile,
  toClientOptions,
} from '@temporalio/envconfig';
import { SandflowError } from './errors/sandflow-error.js';
import { byOwnUser } from './os/owner.js';
import { rootsWith } from './os/trusted-roots.js';
import { usableTemporalSettings } from './secrecy/temporal-secrets.js';
import { type Environment, pathsIn } from './settings/environment.js';
import { type TunnelProxy, tunnelTo } from './settings/proxies.js';
import { temporalAddressProblem } from './texts/urls.js';

export interface TemporalConfig {
  /** True when an address is configured; otherwise an embedded server is used. */
  readonly configured: boolean;
  readonly connect: ClientConnectConfig;
  /** The proxy that leads to the address, which then need not be reachable directly. Absent: there is none. */
  readonly proxy?: TunnelProxy;
}

/**
 * @param env as `readEnvironment` returns it
 * @throws SandflowError `bad_configuration`, which quotes neither an address nor the file; `bad_api_key`
 */
export function readTemporalConfig(env: Environment): TemporalConfig {
  const { profile, options: loaded } = load(env);
  const { address } = loaded.connectionOptions;
  const problem = address && temporalAddressProblem(address);
  if (problem) {
    const setting = env.TEMPORAL_ADDRESS ? 'TEMPORAL_ADDRESS' : "The address in Temporal's configuration file";
    throw new SandflowError('bad_configuration', `${setting} ${problem}.`);
  }
  const proxy = address ? tunnelTo(address, env) : undefined;
  const usable = usableTemporalSettings(loaded.connectionOptions);
  const { tls } = usable;
  if (profile.tls && typeof tls === 'object' && tls !== null) requireCertificates(profile.tls, tls, env);
  return {
    configured: Boolean(address),
    connect: { ...loaded, connectionOptions: withExtraRoots(usable, env) },
    ...(proxy && { proxy }),
  };
}

/**
 * The native connection of workers does not know NODE_EXTRA_CA_CERTS, which makes Node trust a private authority. A
 * configured authority stays the only one.
 */
function withExtraRoots(
  options: ClientConnectConfig['connectionOptions'],
  env: Environment,
): ClientConnectConfig['connectionOptions'] {
  const { tls, apiKey } = options;
  const isOn = tls === undefined || tls === null ? apiKey !== undefined : tls !== false;
  const { serverRootCACertificate: configured } = typeof tls === 'object' && tls !== null ? tls : {};
  if (!isOn || configured || !env.NODE_EXTRA_CA_CERTS) return options;
  const serverRootCACertificate = rootsWith(env.NODE_EXTRA_CA_CERTS, env.SSL_CERT_FILE);
  return { ...options, tls: { ...(typeof tls === 'object' && tls), serverRootCACertificate } };
}

function load(env: Environment): { readonly profile: ClientConfigProfile; readonly options: ClientConnectConfig } {
  const defined: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) if (value !== undefined) defined[name] = value;
  const file = env.TEMPORAL_CONFIG_FILE;
  // To the library, a missing file is an empty one: the command used the embedded server. The stack names such a file.
  if (file !== undefined && env.TEMPORAL_ADDRESS === undefined && !existsSync(file)) {
    throw new SandflowError('bad_configuration', `TEMPORAL_CONFIG_FILE: ${file} does not exist.`);
  }
  try {
    const profile = loadClientConfigProfile({ overrideEnvVars: defined });
    return { profile, options: toClientOptions(profile) };
  } catch (cause) {
    // Further lines quote the file, which may hold a key. So does the cause.
    const [said = ''] = (cause instanceof Error ? cause.message : String(cause)).split('\n', 1);
    const reason = said.replace('EACCES: permission denied', `permission denied${byOwnUser()}`);
    const [name = "Temporal's configuration"] =
      Object.entries(pathsIn(env)).find(([, path]) => said.includes(`'${path}'`)) ?? [];
    throw new SandflowError(
      'bad_configuration',
      `${name} cannot be read: ${reason.replace(/[.:]$/, '')}. Correct the file, its owner or its mode, or name another one in TEMPORAL_CONFIG_FILE or in TEMPORAL_TLS_…_PATH.`,
    );
  }
}

/**
 * Checks the certificates and the key of a connection. One of the two alone was left out without a word, and the others
 * were an error of the network.
 * @throws SandflowError `bad_configuration` with the name of the setting
 */
function requireCertificates(
  { clientCert, clientKey, serverCACert }: ClientConfigTLS,
  { clientCertPair: pair, serverRootCACertificate: roots }: TlsFiles,
  env: Environment,
): void {
  const nameOf = (part: string) => {
    const name = [`TEMPORAL_TLS_${part}_PATH`, `TEMPORAL_TLS_${part}_DATA`].find((one) => env[one] !== undefined);
    return name ?? `${part.toLowerCase()} in Temporal's configuration file`;
  };
  const [cert, key, authority] = ['CLIENT_CERT', 'CLIENT_KEY', 'SERVER_CA_CERT'].map(nameOf) as [
    string,
    string,
    string,
  ];
  const refuse = (message: string) => new SandflowError('bad_configuration', message);
  if (!clientCert !== !clientKey) {
    const [is, lacks] = clientCert
      ? [cert, 'its key, TEMPORAL_TLS_CLIENT_KEY']
      : [key, 'its certificate, TEMPORAL_TLS_CLIENT_CERT'];
    throw refuse(`${is} is set without ${lacks}_PATH or …_DATA.`);
  }
  const read = <T>(name: string, content: Uint8Array, what: string, parse: (pem: string) => T): T => {
    const pem = Buffer.from(content).toString();
    try {
      return parse(pem);
    } catch {
      const isOneLine = pem.includes('\\n') && !pem.trim().includes('\n');
      const why = isOneLine ? ': it has \\n in place of line ends' : '';
      throw refuse(
        `${name} holds no ${what} in PEM${why}. Write it with its line ends, or name a file in TEMPORAL_TLS_…_PATH.`,
      );
    }
  };
  const certificate = (pem: string) => new X509Certificate(pem);
  if (serverCACert && roots) read(authority, roots, 'certificate', certificate);
  if (!pair) return;
  const shown = read(cert, pair.crt, 'certificate', certificate);
  const own = read(key, pair.key, 'private key without a password', createPrivateKey);
  if (!shown.checkPrivateKey(own)) throw refuse(`${key} is not the key of the certificate in ${cert}.`);
}

interface TlsFiles {
  readonly clientCertPair?: { readonly crt: Uint8Array; readonly key: Uint8Array } | null;
  readonly serverRootCACertificate?: Uint8Array | null;
}

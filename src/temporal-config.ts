/** How to reach Temporal: its own settings in the environment and in its configuration file. */
import { type ClientConnectConfig, loadClientConnectConfig } from '@temporalio/envconfig';
import { SandflowError } from './errors/sandflow-error.js';
import { byOwnUser } from './os/owner.js';
import { rootsWith } from './os/trusted-roots.js';
import { usableTemporalSettings } from './secrecy/temporal-secrets.js';
import { type TunnelProxy, tunnelTo } from './settings/proxies.js';
import { yesOrNo } from './settings/yes-or-no.js';
import { temporalAddressProblem } from './texts/urls.js';

export interface TemporalConfig {
  /** True when an address is configured; otherwise an embedded server is used. */
  readonly configured: boolean;
  readonly connect: ClientConnectConfig;
  /** The proxy that leads to the address, which then need not be reachable directly. Absent: there is none. */
  readonly proxy?: TunnelProxy;
}

/** @throws SandflowError `bad_configuration`, which quotes neither an address nor the file; `bad_api_key` */
export function readTemporalConfig(env: Readonly<Record<string, string | undefined>>): TemporalConfig {
  const loaded = load(env);
  const { address } = loaded.connectionOptions;
  const problem = address && temporalAddressProblem(address);
  if (problem) {
    const setting = env.TEMPORAL_ADDRESS ? 'TEMPORAL_ADDRESS' : "The address in Temporal's configuration file";
    throw new SandflowError('bad_configuration', `${setting} ${problem}.`);
  }
  const proxy = address ? tunnelTo(address, env) : undefined;
  return {
    configured: Boolean(address),
    connect: { ...loaded, connectionOptions: withExtraRoots(usableTemporalSettings(loaded.connectionOptions), env) },
    ...(proxy && { proxy }),
  };
}

/**
 * The native connection of workers does not know NODE_EXTRA_CA_CERTS, which makes Node trust a private authority. A
 * configured authority stays the only one.
 */
function withExtraRoots(
  options: ClientConnectConfig['connectionOptions'],
  env: Readonly<Record<string, string | undefined>>,
): ClientConnectConfig['connectionOptions'] {
  const { tls, apiKey } = options;
  const isOn = tls === undefined || tls === null ? apiKey !== undefined : tls !== false;
  const { serverRootCACertificate: configured } = typeof tls === 'object' && tls !== null ? tls : {};
  if (!isOn || configured || !env.NODE_EXTRA_CA_CERTS) return options;
  const serverRootCACertificate = rootsWith(env.NODE_EXTRA_CA_CERTS, env.SSL_CERT_FILE);
  return { ...options, tls: { ...(typeof tls === 'object' && tls), serverRootCACertificate } };
}

/** To the library, every word but `1` and `true` means no, such as `True`: it would send a key without TLS. */
const onOrOff = ['TEMPORAL_TLS', 'TEMPORAL_TLS_DISABLE_HOST_VERIFICATION'];

function load(env: Readonly<Record<string, string | undefined>>): ClientConnectConfig {
  const defined: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) if (value !== undefined) defined[name] = value;
  for (const name of onOrOff) {
    const isOn = yesOrNo(env, name);
    if (isOn === undefined) delete defined[name];
    else defined[name] = String(isOn);
  }
  try {
    return loadClientConnectConfig({ overrideEnvVars: defined });
  } catch (cause) {
    // Further lines quote the file, which may hold a key. So does the cause.
    const [said = ''] = (cause instanceof Error ? cause.message : String(cause)).split('\n', 1);
    const reason = said.replace('EACCES: permission denied', `permission denied${byOwnUser()}`);
    throw new SandflowError(
      'bad_configuration',
      `Temporal's configuration cannot be read: ${reason.replace(/[.:]$/, '')}. Correct the file, its owner or its mode, or name another one in TEMPORAL_CONFIG_FILE or in TEMPORAL_TLS_…_PATH.`,
    );
  }
}

/** Which proxy the environment names for a server, by the rules of curl. Pure. */
import { keepUrlSecrets } from './secrecy/known-secrets.js';
import { isLoopbackHost } from './urls.js';

type Environment = Readonly<Record<string, string | undefined>>;

/** Loopback, as entries of NO_PROXY: no proxy leads to this machine. */
const loopback = ['localhost', '127.0.0.1', '::1', '[::1]'];

/** The variables that libraries read, in the spelling that all of them know. */
const names = ['http_proxy', 'https_proxy', 'no_proxy'] as const;

/**
 * Gives the variables of proxies one spelling and one meaning for every library of this process, and for its children:
 * some read only lower case, and some send loopback through the proxy.
 */
export function unifyProxySettings(env: Record<string, string | undefined>): void {
  for (const name of names) {
    const value = env[name] || env[name.toUpperCase()];
    if (!value) continue;
    env[name] = value;
    env[name.toUpperCase()] = value;
    if (name !== 'no_proxy') keepUrlSecrets(value);
  }
  if (!env.http_proxy && !env.https_proxy) return;
  const direct = [...new Set([...entriesOf(env.no_proxy), ...loopback])].join(',');
  env.no_proxy = direct;
  env.NO_PROXY = direct;
}

/** A proxy for connections that are no HTTP requests, by the method CONNECT. */
export interface TunnelProxy {
  /** `host:port` */
  readonly address: string;
  readonly login: { readonly username: string; readonly password: string } | undefined;
}

/**
 * The proxy that leads to a server over TLS or gRPC; undefined if there is none, or if the server is reached directly.
 * @param address `host` or `host:port`
 */
export function tunnelTo(address: string, env: Environment): TunnelProxy | undefined {
  const text = either(env, 'grpc_proxy') ?? either(env, 'https_proxy') ?? either(env, 'http_proxy');
  if (text === undefined || !URL.canParse(text)) return undefined;
  const { hostname: host, port } = new URL(`tcp://${address}`);
  if (isLoopbackHost(host) || isDirect(host, port, either(env, 'no_grpc_proxy') ?? either(env, 'no_proxy'))) return;
  const proxy = new URL(text);
  keepUrlSecrets(text);
  const { username, password } = proxy;
  return {
    address: `${proxy.hostname}:${proxy.port || '80'}`,
    login:
      username === '' ? undefined : { username: decodeURIComponent(username), password: decodeURIComponent(password) },
  };
}

function either(env: Environment, name: string): string | undefined {
  return env[name] || env[name.toUpperCase()] || undefined;
}

function entriesOf(list: string | undefined): string[] {
  return (list ?? '').split(/[,\s]/).filter((entry) => entry !== '');
}

/** True if an entry is `*`, the host, a domain that it belongs to, or one of these with the port. */
function isDirect(host: string, port: string, list: string | undefined): boolean {
  return entriesOf(list).some((entry) => {
    if (entry === '*') return true;
    const [, name = '', only] = /^(.*?)(?::(\d+))?$/.exec(entry.toLowerCase().replace(/^\*?\./, '')) ?? [];
    return (host === name || host.endsWith(`.${name}`)) && (only === undefined || only === port);
  });
}

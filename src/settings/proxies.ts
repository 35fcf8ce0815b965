/**
 * Which proxy the environment names for a server, by the rules of curl. Pure. With https_proxy set, the embedded stack
 * did not start.
 */

import { SandflowError } from '../errors/sandflow-error.js';
import { keepUrlSecrets } from '../secrecy/known-secrets.js';
import { isLoopbackHost } from '../texts/urls.js';

type Environment = Readonly<Record<string, string | undefined>>;

/** Loopback, as entries of NO_PROXY: no proxy leads to this machine. */
const loopback = ['localhost', '127.0.0.1', '::1', '[::1]'];

/** The variables that libraries read, in the spelling that all of them know. */
const proxyNames = ['http_proxy', 'https_proxy', 'grpc_proxy'] as const;
const directNames = ['no_proxy', 'no_grpc_proxy'] as const;

/**
 * Gives the variables of proxies one spelling and one meaning for every library of this process, and for its children:
 * some read only lower case, some need a scheme, some send loopback through the proxy, and some know `*` only alone.
 * @throws SandflowError `bad_configuration` for a proxy that cannot be one, without its value
 */
export function unifyProxySettings(env: Record<string, string | undefined>): void {
  const set = (name: string, value: string) => {
    env[name] = value;
    env[name.toUpperCase()] = value;
  };
  for (const name of proxyNames) {
    const value = either(env, name);
    if (value !== undefined) set(name, proxyUrl(name, value).text);
  }
  const isProxied = proxyNames.some((name) => env[name]);
  for (const name of directNames) {
    const value = either(env, name);
    if (!isProxied) {
      if (value !== undefined) set(name, value);
      continue;
    }
    // Without a list of its own, gRPC has the list of all.
    if (value === undefined && name === 'no_grpc_proxy') continue;
    const entries = entriesOf(value);
    set(name, entries.includes('*') ? '*' : [...new Set([...entries, ...loopback])].join(','));
  }
}

/**
 * Reads the address of a proxy as curl does: without a scheme it is `http`.
 * @throws SandflowError `bad_configuration`
 */
function proxyUrl(name: string, value: string): { readonly text: string; readonly url: URL } {
  const text = value.includes('://') ? value : `http://${value}`;
  keepUrlSecrets(text);
  try {
    const url = new URL(text);
    decodeURIComponent(`${url.username}${url.password}`);
    if (/^https?:$/.test(url.protocol)) return { text, url };
  } catch {
    // The reason would quote the login.
  }
  const mend = 'Set a URL like http://proxy.example.com:3128, with special characters of a login in percent encoding';
  throw new SandflowError('bad_configuration', `${name.toUpperCase()} is no address of an HTTP proxy. ${mend}.`);
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
 * @throws SandflowError `bad_configuration` for a proxy that cannot be one, or that is itself reached by TLS
 */
export function tunnelTo(address: string, env: Environment): TunnelProxy | undefined {
  const name = (['grpc_proxy', 'https_proxy', 'http_proxy'] as const).find((one) => either(env, one) !== undefined);
  if (name === undefined) return undefined;
  const { hostname: host, port } = new URL(`tcp://${address}`);
  if (isLoopbackHost(host) || isDirect(host, port, either(env, 'no_grpc_proxy') ?? either(env, 'no_proxy'))) return;
  const { url: proxy } = proxyUrl(name, either(env, name) ?? '');
  if (proxy.protocol !== 'http:') {
    const mend = 'Set GRPC_PROXY to a URL with http://, or name the host of Temporal in NO_PROXY';
    const message = `${name.toUpperCase()} begins with ${proxy.protocol}//. Temporal cannot be reached through such a proxy. ${mend}.`;
    throw new SandflowError('bad_configuration', message);
  }
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

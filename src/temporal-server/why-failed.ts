/** Says in one line why a server could not be downloaded. Pure. No line holds the login of a proxy or of a mirror. */
import { withoutSecrets } from '../errors/without-secrets.js';

/** Replaces the user and the password in every URL of `text`, and the secrets that this process knows. */
export function withoutLogins(text: string): string {
  return withoutSecrets(text).replace(/\/\/[^\s/@'"]+@/g, '//***@');
}

/** Whoever gets it need not try another way, which would need the same room. */
export const diskFull = 'the disk is full';
const authority = 'is signed by an authority that is not trusted here';

/** By the `code` of an error of Node's file system, network or TLS. */
const reasonOfCode: Readonly<Record<string, (address: string, proxy: string) => string>> = {
  ENOTFOUND: (address, proxy) => `the address ${address} is not known; ${proxy}`,
  EAI_AGAIN: (address, proxy) => `the address ${address} could not be looked up; ${proxy}`,
  ECONNREFUSED: (address) => `${address} refuses connections`,
  ECONNRESET: (address) => `${address} ended the connection`,
  UND_ERR_SOCKET: (address) => `${address} ended the connection`,
  ENETUNREACH: (address) => `there is no route to ${address}`,
  EHOSTUNREACH: (address) => `there is no route to ${address}`,
  ETIMEDOUT: (address) => `${address} does not answer`,
  UND_ERR_CONNECT_TIMEOUT: (address) => `${address} does not answer`,
  CERT_HAS_EXPIRED: (address) => `the certificate of ${address} has expired`,
  ERR_TLS_CERT_ALTNAME_INVALID: (address) => `the certificate of ${address} is for another host`,
  DEPTH_ZERO_SELF_SIGNED_CERT: (address) => `the certificate of ${address} ${authority} (NODE_EXTRA_CA_CERTS)`,
  SELF_SIGNED_CERT_IN_CHAIN: (address) => `the certificate of ${address} ${authority} (NODE_EXTRA_CA_CERTS)`,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: (address) => `the certificate of ${address} ${authority} (NODE_EXTRA_CA_CERTS)`,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: (address) => `the certificate of ${address} ${authority} (NODE_EXTRA_CA_CERTS)`,
  ERR_INVALID_URL: () => 'HTTPS_PROXY is not a URL such as http://proxy.example.com:3128',
  ENOSPC: () => diskFull,
  EDQUOT: () => diskFull,
};

/**
 * Why an archive could not be downloaded.
 * @param error what `fetch` or the file system threw
 */
export function whyDownloadFailed(error: unknown, url: string): string {
  const causes = causesOf(error);
  const tunnel = causes.find(({ message }) => /^Proxy response/.test(message));
  if (tunnel) {
    const status = /\d{3}/.exec(tunnel.message)?.[0];
    if (status === '407') return 'the proxy asks for another user and password than those in HTTPS_PROXY (407)';
    return `the proxy refuses to connect to ${new URL(url).host} (${status})`;
  }
  for (const cause of causes) {
    const reason = reasonOfCode[String(Reflect.get(cause, 'code'))];
    if (!reason) continue;
    const address = addressIn(cause, url);
    return withoutLogins(reason(address, adviceOnProxy(address, url)));
  }
  return withoutLogins(oneLine(causes.at(-1)?.message ?? String(error)));
}

function causesOf(error: unknown): Error[] {
  if (!(error instanceof Error)) return [];
  // A host with several addresses gives an error for each.
  const inner: unknown = error instanceof AggregateError ? error.errors[0] : error.cause;
  return [error, ...causesOf(inner)];
}

/** The address that failed, which may be that of a proxy or of a redirection. */
function addressIn(cause: Error, url: string): string {
  const hostname: unknown = Reflect.get(cause, 'hostname');
  if (typeof hostname === 'string') return hostname;
  const address: unknown = Reflect.get(cause, 'address');
  const { host, port } = new URL(url);
  if (typeof address !== 'string') return host;
  const failedPort = String(Reflect.get(cause, 'port'));
  return failedPort === (port || '443') ? host : `the proxy ${address}:${failedPort}`;
}

/** Another name than that of the archive is a proxy's or, where there is none, that of a redirection. */
function adviceOnProxy(address: string, url: string): string {
  const { host, hostname } = new URL(url);
  if (address === host || address === hostname) return 'behind a proxy, set HTTPS_PROXY';
  return 'if it comes from HTTPS_PROXY or HTTP_PROXY, that is not the URL of a proxy, such as http://proxy.example.com:3128';
}

/** What helps if pip's index is silent. */
export const otherIndex = 'PIP_INDEX_URL can name another one';

/** What pip and Python print, in all versions since pip 18, by the most telling first. */
const reasonOfOutput: readonly (readonly [RegExp, string | ((match: RegExpExecArray) => string)])[] = [
  [/No module named '?pip\b/, 'python3 has no module pip; Debian has it in the package python3-pip'],
  [
    /DO NOT MATCH THE HASHES[\s\S]*?Expected sha256 (\w+)\s+Got\s+(\w+)/,
    ([, expected, got]) =>
      `REFUSED: the package has the SHA-256 ${got}, and not ${expected}; somebody may have changed it`,
  ],
  [/\[Errno (28|122)\]|No space left on device/, diskFull],
  [
    /CERTIFICATE_VERIFY_FAILED|SSLCertVerificationError|invalid path: .*(cert|\.pem)/i,
    `the certificate of the package index ${authority}; name its file in PIP_CERT`,
  ],
  [/Tunnel connection failed: 407/, "pip's proxy asks for another user and password (407)"],
  [
    /Tunnel connection failed: (\d+)/,
    ([, status]) => `pip's proxy refuses to connect to the package index (${status})`,
  ],
  [/ProxyError|ProxySchemeUnknown|Proxy URL had/, "pip's proxy cannot be reached"],
  [
    /NameResolutionError|Failed to resolve|\[Errno (-2|-3|-5|8)\]|getaddrinfo failed/,
    'the address of the package index is not known',
  ],
  [/ConnectTimeoutError|ReadTimeoutError|timed out/, `the package index does not answer; ${otherIndex}`],
  [/Connection refused/, 'the package index refuses connections'],
  [/NewConnectionError|Network is unreachable|No route to host/, 'there is no route to the package index'],
  [/\b([45]\d\d) (?:Client|Server) Error/, ([, status]) => `the package index answers ${status}`],
  // The index was never asked.
  [/Ignoring indexes: /, "pip's configuration shuts the package index off (PIP_NO_INDEX, or no-index in pip.conf)"],
  [/No matching distribution found/, 'the package index has no such package for this platform and this Python'],
];

/** Why pip, or the unpacking with Python, failed. */
export function whyPythonFailed(output: string): string {
  for (const [pattern, reason] of reasonOfOutput) {
    const match = pattern.exec(output);
    if (match) return typeof reason === 'string' ? reason : reason(match);
  }
  const lines = output.split('\n').filter((line) => line.trim() !== '');
  return withoutLogins(oneLine(lines.at(-1) ?? 'it printed nothing'));
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

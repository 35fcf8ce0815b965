/**
 * Why no connection comes about that time alone does not mend: certificates, TLS and proxies. Node and its libraries name
 * it only by a code.
 */

export type ConnectionFault =
  | 'untrusted'
  | 'expired'
  | 'not_yet_valid'
  | 'other_name'
  | 'no_tls'
  | 'tls_refused'
  | 'proxy_refused';

export interface ConnectionProblem {
  readonly fault: ConnectionFault;
  /** What is wrong, as a sentence without its full stop. It names no secret. */
  readonly text: string;
  /** What helps, as a sentence, for a server that a URL names. */
  readonly mend: string;
}

/** What is wrong. A proxy on the way has a certificate, too, and which of them it is cannot be told. */
const faultTexts: Readonly<Record<ConnectionFault, string>> = {
  untrusted: 'its certificate, or that of a proxy on the way, is of an authority that is not trusted here',
  expired: 'its certificate has expired, or the clock of this machine is ahead',
  not_yet_valid: 'its certificate is not valid yet, so the clock of this machine is probably behind',
  other_name: 'its certificate is for another host',
  no_tls: 'it does not use TLS at this port',
  tls_refused: 'it and this machine do not agree on TLS, or it refuses this client',
  proxy_refused: 'the proxy refuses to connect to it',
};

const mends: Readonly<Record<ConnectionFault, string>> = {
  untrusted: 'Name the file with the certificate of the authority in NODE_EXTRA_CA_CERTS.',
  expired: 'Have the certificate renewed, or set the clock.',
  not_yet_valid: 'Set the clock.',
  other_name: 'Use one of its names in the URL, or have the certificate replaced.',
  no_tls: 'Correct the port, or begin the URL with http://.',
  tls_refused: 'Check that this is the right server and port.',
  proxy_refused: 'Check the address, the user and the password in HTTPS_PROXY, or name the host in NO_PROXY.',
};

const faultOfCode: ReadonlyMap<string, ConnectionFault> = new Map([
  ['CERT_HAS_EXPIRED', 'expired'],
  ['CRL_HAS_EXPIRED', 'expired'],
  ['CERT_NOT_YET_VALID', 'not_yet_valid'],
  ['CRL_NOT_YET_VALID', 'not_yet_valid'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'other_name'],
  ['HOSTNAME_MISMATCH', 'other_name'],
  ['ERR_SSL_WRONG_VERSION_NUMBER', 'no_tls'],
  ['ERR_SSL_PACKET_LENGTH_TOO_LONG', 'no_tls'],
  ['ERR_SSL_HTTP_REQUEST', 'no_tls'],
]);

/** The other errors of OpenSSL about a certificate. */
const untrusted =
  /^(DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_|CERT_|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_EXCEEDED)/;
const longestNames = 200;

/** @param error what a socket, TLS or a library of HTTP has thrown; undefined for a failure that may pass by itself */
export function connectionProblemOf(error: unknown): ConnectionProblem | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code } = error as NodeJS.ErrnoException;
  const refused = /^Proxy response \(([1-4]\d\d)\)/.exec(error.message)?.[1];
  if (refused !== undefined) return problemOf('proxy_refused', refused);
  if (typeof code !== 'string') return undefined;
  const fault = faultOfCode.get(code) ?? (untrusted.test(code) ? 'untrusted' : undefined);
  if (fault === 'other_name') return problemOf(fault, namesIn(error));
  if (fault) return problemOf(fault, code);
  return code.startsWith('ERR_SSL_') ? problemOf('tls_refused', code) : undefined;
}

/** @param detail what the network said of it */
export function problemOf(fault: ConnectionFault, detail?: string): ConnectionProblem {
  const text = faultTexts[fault];
  return { fault, text: detail === undefined ? text : `${text} (${detail})`, mend: mends[fault] };
}

/** The names that the certificate has. The server chose them. */
function namesIn(error: Error): string {
  const { cert } = error as { readonly cert?: { readonly subjectaltname?: unknown; readonly subject?: unknown } };
  const { CN } = Object(cert?.subject) as { readonly CN?: unknown };
  const names = String(cert?.subjectaltname ?? CN ?? 'none that is known').replaceAll(/[\p{Cc}\s]+/gu, ' ');
  return `it has ${names.length > longestNames ? `${names.slice(0, longestNames)}…` : names}`;
}

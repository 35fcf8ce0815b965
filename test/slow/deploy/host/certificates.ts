/** A certificate authority of a test, and a certificate that it signed. */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Certificates {
  /** The file of the authority's own certificate. */
  readonly authority: string;
  readonly certificate: string;
  readonly key: string;
}

/** @param names the host names that the certificate is for */
export function certificatesFor(names: readonly string[], folder: string): Certificates {
  const file = (name: string) => join(folder, name);
  const openssl = (...args: readonly string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' });
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  openssl('req', '-x509', ...key, '-keyout', 'ca.key', '-out', 'ca.pem', '-subj', '/CN=Test authority', '-days', '2');
  openssl('req', ...key, '-keyout', 'host.key', '-out', 'host.csr', '-subj', `/CN=${names[0]}`);
  writeFileSync(file('names'), `subjectAltName=${names.map((name) => `DNS:${name}`).join(',')}\n`);
  const signed = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-days', '2', '-extfile', 'names'];
  openssl('x509', '-req', '-in', 'host.csr', '-out', 'host.pem', ...signed);
  return { authority: file('ca.pem'), certificate: file('host.pem'), key: file('host.key') };
}

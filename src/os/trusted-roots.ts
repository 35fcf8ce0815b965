/**
 * The certificates of the authorities that this machine trusts, for libraries that do not ask Node. The client trusted
 * a private authority that the native connection of the worker refused.
 */
import { readFileSync } from 'node:fs';

/** Where common systems keep their bundle. */
const systemBundles = ['/etc/ssl/certs/ca-certificates.crt', '/etc/pki/tls/certs/ca-bundle.crt', '/etc/ssl/cert.pem'];

/**
 * Adds the certificates of a file to all that are trusted anyway: given roots replace those of the system.
 * @param extraFile the file that NODE_EXTRA_CA_CERTS names, in PEM
 * @param systemFile the bundle that SSL_CERT_FILE names, instead of that of the system
 * @returns PEM; undefined if the file cannot be read, which Node has warned of
 */
export function rootsWith(extraFile: string, systemFile: string | undefined): Uint8Array | undefined {
  const extra = textOf(extraFile);
  if (extra === undefined) return undefined;
  // Few have such a file, and to load the module takes longer than to read all settings.
  const { rootCertificates } = process.getBuiltinModule('node:tls');
  const system = (systemFile ? [systemFile] : systemBundles).map(textOf).find((text) => text !== undefined);
  return Buffer.from([extra, system ?? '', ...rootCertificates].join('\n'));
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

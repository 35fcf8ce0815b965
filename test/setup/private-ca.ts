/** A certificate authority that nobody trusts, and servers with certificates of it. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, isIP, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer } from 'node:tls';

export interface Certificate {
  readonly cert: Buffer;
  readonly key: Buffer;
}

export interface PrivateAuthority {
  /** The file of its certificate. */
  readonly file: string;
  /** A certificate for the names, and its key. */
  readonly server: Certificate;
  /** Another one for the same names. */
  issue(): Certificate;
  close(): void;
}

/** Says what is missing for `createPrivateAuthority`; undefined: nothing. */
export function missingForAuthority(): string | undefined {
  return spawnSync('openssl', ['version']).error ? 'openssl is not installed' : undefined;
}

/** @param names the host names and addresses of the server. @param days how long its certificate is valid; -1: it has expired */
export function createPrivateAuthority(names: readonly string[] = ['localhost'], days = 30): PrivateAuthority {
  const folder = mkdtempSync(join(tmpdir(), 'sandflow-authority-'));
  const path = (name: string) => join(folder, name);
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'ignore' });
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  openssl('req', '-x509', ...newKey, '-keyout', 'ca.key', '-out', 'ca.pem', '-subj', '/CN=Private authority');
  const kindOf = (name: string) => (isIP(name) ? 'IP' : 'DNS');
  writeFileSync(path('names'), `subjectAltName=${names.map((name) => `${kindOf(name)}:${name}`).join(',')}\n`);
  const signed = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-extfile', 'names', '-out', 'cert.pem'];
  const issue = () => {
    openssl('req', ...newKey, '-keyout', 'key.pem', '-out', 'request.pem', '-subj', `/CN=${names[0]}`);
    openssl('x509', '-req', '-days', String(days), '-in', 'request.pem', ...signed);
    return { cert: readFileSync(path('cert.pem')), key: readFileSync(path('key.pem')) };
  };
  return {
    file: path('ca.pem'),
    server: issue(),
    issue,
    close: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Ends TLS in front of a server of this machine, as a proxy of an organization does. */
export async function terminateTls(port: number, { server: certificate }: PrivateAuthority) {
  const sockets = new Set<Socket>();
  const server = createServer({ ...certificate, ALPNProtocols: ['h2', 'http/1.1'] }, (socket) => {
    const target = connect(port, '127.0.0.1');
    for (const one of [socket, target]) sockets.add(one);
    socket.pipe(target).pipe(socket);
    socket.on('error', () => target.destroy());
    target.on('error', () => socket.destroy());
  });
  // A client that does not trust the certificate.
  server.on('tlsClientError', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    address: `localhost:${(server.address() as AddressInfo).port}`,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

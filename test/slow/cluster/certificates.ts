/** The certificates of a cluster that asks its clients for theirs, as files that can be replaced while it runs. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Certificate, createPrivateAuthority } from '../../setup/private-ca.js';

export interface ClusterCertificates {
  /** Settings of clients that trust the authority of the roles. */
  readonly ofTrust: Readonly<Record<string, string>>;
  /** Settings of a cluster whose frontend has a certificate and asks for none. */
  readonly ofFrontend: Readonly<Record<string, string>>;
  /** Settings of a cluster that asks for certificates everywhere. It reads the files again every second. */
  readonly ofCluster: Readonly<Record<string, string>>;
  /** Settings of sandflow. */
  readonly ofClients: Readonly<Record<string, string>>;
  /** The settings of a client with the first certificate, whatever is replaced. */
  readonly ofFirstClient: Readonly<Record<string, string>>;
  /** Replaces the certificates of the roles by others of the same authority. */
  replaceServers(): void;
  /** Lets the cluster also accept the clients of another authority. */
  acceptBoth(): void;
  /** Replaces the certificate of the clients by one of the other authority. */
  replaceClients(): void;
  /** Lets a frontend that starts afterwards refuse the clients of the first authority. */
  refuseFirst(): void;
  close(): void;
}

/** The name of the frontend. Node warns of a server that is named by its address. */
const name = 'temporal.example.com';

/** @param host the address of all roles */
export function createClusterCertificates(host: string): ClusterCertificates {
  const folder = mkdtempSync(join(tmpdir(), 'sandflow-certificates-'));
  const path = (name: string) => join(folder, name);
  const servers = createPrivateAuthority([name, host]);
  const [first, second] = [createPrivateAuthority(['client']), createPrivateAuthority(['client'])] as const;
  const textOf = ({ file }: { readonly file: string }) => readFileSync(file, 'utf8');
  const write = (one: string, { cert, key }: Certificate) => {
    writeFileSync(path(`${one}.pem`), cert);
    writeFileSync(path(`${one}.key`), key, { mode: 0o600 });
  };
  const accept = (...authorities: readonly string[]) => writeFileSync(path('accepted.pem'), authorities.join(''));
  const writeServers = (issue: () => Certificate) => {
    for (const one of ['internode', 'frontend']) write(one, issue());
  };
  writeServers(servers.issue);
  accept(textOf(first));
  write('client', first.server);
  write('first', first.server);
  const client = (one: string) => ({
    TEMPORAL_TLS_CLIENT_CERT_PATH: path(`${one}.pem`),
    TEMPORAL_TLS_CLIENT_KEY_PATH: path(`${one}.key`),
    TEMPORAL_TLS_SERVER_CA_CERT_PATH: servers.file,
    TEMPORAL_TLS_SERVER_NAME: name,
  });
  const ofFrontend = {
    TEMPORAL_TLS_FRONTEND_CERT: path('frontend.pem'),
    TEMPORAL_TLS_FRONTEND_KEY: path('frontend.key'),
  };
  return {
    ofTrust: { NODE_EXTRA_CA_CERTS: servers.file, TEMPORAL_TLS_SERVER_NAME: name },
    ofFrontend,
    ofCluster: {
      ...ofFrontend,
      TEMPORAL_TLS_REFRESH_INTERVAL: '1s',
      TEMPORAL_TLS_REQUIRE_CLIENT_AUTH: 'true',
      TEMPORAL_TLS_SERVER_CA_CERT: servers.file,
      TEMPORAL_TLS_SERVER_CERT: path('internode.pem'),
      TEMPORAL_TLS_SERVER_KEY: path('internode.key'),
      TEMPORAL_TLS_INTERNODE_SERVER_NAME: host,
      TEMPORAL_TLS_FRONTEND_SERVER_NAME: host,
      TEMPORAL_TLS_CLIENT1_CA_CERT: path('accepted.pem'),
      // Of its own role `worker`, which is a client of the frontend.
      TEMPORAL_TLS_CLIENT2_CA_CERT: servers.file,
    },
    ofClients: client('client'),
    ofFirstClient: client('first'),
    replaceServers: () => writeServers(servers.issue),
    // Temporal sees that a file has changed only by its first certificate.
    acceptBoth: () => accept(textOf(second), textOf(first)),
    replaceClients: () => write('client', second.server),
    refuseFirst: () => accept(textOf(second)),
    close() {
      for (const authority of [servers, first, second]) authority.close();
      rmSync(folder, { recursive: true });
    },
  };
}

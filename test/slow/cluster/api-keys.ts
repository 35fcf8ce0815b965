/**
 * API keys of a cluster: tokens that its frontend checks at every call, with the keys that it reads from a server of this
 * machine every second. As in Temporal Cloud, a key has rights in one namespace only, and is sent over TLS.
 */
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ApiKeys {
  /** Settings of the cluster beside its certificate. */
  readonly ofCluster: Readonly<Record<string, string>>;
  /** A key that the cluster accepts as long as `name` is not revoked. @param permission such as `default:write` */
  issue(name: string, permission: string): string;
  revoke(name: string): void;
  close(): Promise<void>;
}

const algorithm = 'ES256';

export async function serveApiKeys(host: string): Promise<ApiKeys> {
  const pairs = new Map<string, { readonly publicKey: KeyObject; readonly privateKey: KeyObject }>();
  const published = () =>
    [...pairs].map(([kid, { publicKey }]) => ({
      ...publicKey.export({ format: 'jwk' }),
      kid,
      alg: algorithm,
      use: 'sig',
    }));
  const server = createServer((_, response) => response.end(JSON.stringify({ keys: published() })));
  server.listen(0, host);
  await once(server, 'listening');
  return {
    ofCluster: {
      TEMPORAL_AUTH_AUTHORIZER: 'default',
      TEMPORAL_AUTH_CLAIM_MAPPER: 'default',
      TEMPORAL_JWT_KEY_SOURCE1: `http://${host}:${(server.address() as AddressInfo).port}/keys`,
      TEMPORAL_JWT_KEY_REFRESH: '1s',
      // Without it, its own role `worker` would need a key.
      USE_INTERNAL_FRONTEND: 'true',
    },
    issue(name, permission) {
      const pair = pairs.get(name) ?? generateKeyPairSync('ec', { namedCurve: 'P-256' });
      pairs.set(name, pair);
      const expiresAt = Math.floor(Date.now() / 1_000) + 86_400;
      const parts = [
        { alg: algorithm, typ: 'JWT', kid: name },
        { sub: name, permissions: [permission], exp: expiresAt },
      ].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'));
      const signature = sign('sha256', Buffer.from(parts.join('.')), {
        key: pair.privateKey,
        dsaEncoding: 'ieee-p1363',
      });
      return [...parts, signature.toString('base64url')].join('.');
    },
    revoke: (name) => void pairs.delete(name),
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

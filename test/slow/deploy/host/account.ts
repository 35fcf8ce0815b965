/** An account of the service on a host: the local service behind TLS, which delivers to public addresses over HTTPS. */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { vi } from 'vitest';
import { repository } from '../../../unit/house/source-imports.js';
import type { Host } from './host.js';

/** Files that the host sees. */
export interface Certificates {
  /** The certificate of the authority that signed the other one. */
  readonly authority: string;
  readonly certificate: string;
  readonly key: string;
}

/** @returns its API key; it answers at port 8444 of the host */
export async function startAccount(host: Host, { authority, certificate, key }: Certificates): Promise<string> {
  const folder = join(host.folder, 'account');
  mkdirSync(join(folder, 'tmp'), { recursive: true });
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (of) => `${of}_temp_path ${folder}/tmp/${of};`,
  );
  writeFileSync(
    join(folder, 'nginx.conf'),
    `daemon off; user root; pid ${folder}/nginx.pid; error_log stderr; events {}
http { access_log off; client_max_body_size 0; ${temporary.join(' ')}
  server { listen 8444 ssl; ssl_certificate ${certificate}; ssl_certificate_key ${key};
    location / { proxy_pass http://127.0.0.1:7391; proxy_http_version 1.1; proxy_buffering off; } } }\n`,
  );
  host.serve(`exec nginx -e stderr -p ${folder} -c ${folder}/nginx.conf`);
  const main = join(repository, 'dist/src/cli/main.js');
  const service = `exec ${process.execPath} ${main} local --port 7391 --directory ${folder}/state --api-key-file ${folder}/key`;
  host.serve(service, { NODE_EXTRA_CA_CERTS: authority, SANDFLOW_HOME: folder });
  const isUp = async () => {
    const { exitCode } = await host.run(
      'curl --silent --output /dev/null --insecure --fail https://api.example.com:8444/openapi.json',
    );
    if (exitCode !== 0) throw new Error('The service does not answer yet.');
  };
  await vi.waitFor(isUp, { timeout: 60_000, interval: 200 });
  return readFileSync(join(folder, 'key'), 'utf8').trim();
}

/** The same package with a higher version. */
export function nextVersionOf(tarball: string, folder: string): string {
  const next = join(folder, 'next');
  mkdirSync(next);
  execFileSync('tar', ['xzf', tarball, '-C', next]);
  const manifest = join(next, 'package', 'package.json');
  writeFileSync(manifest, readFileSync(manifest, 'utf8').replace('"version": "0.1.0"', '"version": "0.2.0"'));
  const file = join(folder, 'sandflow-0.2.0.tgz');
  execFileSync('tar', ['czf', file, '-C', next, 'package']);
  chmodSync(file, 0o644);
  return file;
}

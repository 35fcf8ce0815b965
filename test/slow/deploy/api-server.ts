/** The API server of Kubernetes over etcd, without a node: it admits objects, and runs nothing. */
import { type ChildProcess, spawnSync } from 'node:child_process';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../../src/os/free-port.js';
import { spawnBoundToParent } from '../../../src/os/spawn-bound-to-parent.js';

const programs = ['etcd', 'kube-apiserver', 'kubectl'];

/** Why no API server can be started here; undefined if one can. */
export const noApiServer = programs.some((program) => spawnSync('which', [program]).status !== 0)
  ? `${programs.join(', ')} are not all on the PATH`
  : undefined;

export interface ApiServer {
  /** Runs kubectl as an administrator, in the folder of the server. A warning of the server is an error. */
  kubectl(args: readonly string[], input?: string): { readonly status: number | null; readonly text: string };
  close(): Promise<void>;
}

/** @param folder an empty folder for keys, logs and the database */
export async function startApiServer(folder: string): Promise<ApiServer> {
  const [etcdPort, peerPort, port] = [await freePort(), await freePort(), await freePort()];
  const at = (file: string) => join(folder, file);
  const children: ChildProcess[] = [];
  const start = (program: string, args: readonly string[]) => {
    const log = openSync(at(`${program}.log`), 'a');
    children.push(spawnBoundToParent(program, args, { stdio: ['ignore', log, log] }));
  };
  const etcd = `http://127.0.0.1:${etcdPort}`;
  const peer = `http://127.0.0.1:${peerPort}`;
  start('etcd', [
    ...['--data-dir', at('etcd'), '--listen-client-urls', etcd, '--advertise-client-urls', etcd],
    ...['--listen-peer-urls', peer, '--initial-advertise-peer-urls', peer, '--initial-cluster', `default=${peer}`],
    '--unsafe-no-fsync',
  ]);
  const token = randomBytes(16).toString('hex');
  writeFileSync(at('tokens.csv'), `${token},admin,admin,system:masters\n`, { mode: 0o600 });
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  writeFileSync(at('accounts.pem'), privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
  mkdirSync(at('certificates'));
  start('kube-apiserver', [
    ...['--etcd-servers', etcd, '--bind-address', '127.0.0.1', '--secure-port', String(port)],
    ...['--cert-dir', at('certificates'), '--token-auth-file', at('tokens.csv'), '--authorization-mode', 'RBAC'],
    ...['--service-account-issuer', 'https://kubernetes.default.svc', '--service-cluster-ip-range', '10.0.0.0/24'],
    ...['--service-account-key-file', at('accounts.pem'), '--service-account-signing-key-file', at('accounts.pem')],
  ]);
  const as = () => [
    ...['--server', `https://127.0.0.1:${port}`, '--token', token, '--kubeconfig', '/dev/null'],
    ...['--certificate-authority', at('certificates/apiserver.crt'), '--cache-dir', at('cache')],
  ];
  const kubectl: ApiServer['kubectl'] = (args, input) => {
    const { status, stdout, stderr } = spawnSync('kubectl', [...as(), '--warnings-as-errors', ...args], {
      cwd: folder,
      input,
      encoding: 'utf8',
    });
    return { status, text: `${stdout}${stderr}` };
  };
  const close = async () => {
    for (const child of children.toReversed()) {
      child.kill('SIGKILL');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    }
  };
  while (kubectl(['get', '--raw', '/readyz']).status !== 0) {
    if (children.some(({ exitCode }) => exitCode !== null)) {
      await close();
      throw new Error(`The API server ended: ${readFileSync(at('kube-apiserver.log'), 'utf8').slice(-2_000)}`);
    }
    await sleep(500);
  }
  return { kubectl, close };
}

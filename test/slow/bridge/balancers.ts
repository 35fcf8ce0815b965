/** Real balancers in front of bridges, each with its own configuration, folder and ports. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, type TestContext } from 'vitest';
import { freePort } from '../../../src/os/free-port.js';

export interface Balancer {
  readonly url: string;
  close(): Promise<void>;
}

/** Starts a balancer in front of bridges. */
export type StartBalancer = (bridgePorts: readonly number[]) => Promise<Balancer>;

/** Skips a test, with the reason, where the program is missing. */
export function requireProgram(name: string, context: TestContext): void {
  if (spawnSync(name, ['-v']).error) context.skip(`${name} is not installed`);
}

/** It asks for `/readyz` twice a second, and never sends a request again. */
export const startHaproxy: StartBalancer = (bridgePorts) =>
  startProgram('haproxy', {
    args: (folder) => ['-db', '-f', join(folder, 'conf')],
    configuration: (port) => `
      global
        maxconn 200
      defaults
        mode http
        retries 0
        timeout connect 2s
        timeout client 60s
        timeout server 60s
      listen bridges
        bind 127.0.0.1:${port}
        http-reuse always
        option httpchk
        http-check send meth HEAD uri /readyz
        default-server check inter 500ms fall 2 rise 1
        ${bridgePorts.map((one) => `server bridge-${one} 127.0.0.1:${one}`).join('\n        ')}
    `,
  });

/** It has no checks of its own, keeps connections, passes on the prefix, and repeats a delivery that a bridge did not answer. */
export const startNginx: StartBalancer = (bridgePorts) =>
  startProgram('nginx', {
    args: (folder) => ['-p', folder, '-e', 'stderr', '-c', join(folder, 'conf')],
    configuration: (port, folder) => `
      daemon off;
      master_process off;
      pid ${folder}/pid;
      error_log stderr;
      events { worker_connections 200; }
      http {
        access_log off;
        ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((one) => `${one}_temp_path ${folder}/${one};`).join(' ')}
        upstream bridges {
          ${bridgePorts.map((one) => `server 127.0.0.1:${one};`).join(' ')}
          keepalive 16;
        }
        server {
          listen 127.0.0.1:${port};
          location /sandflow/ {
            proxy_pass http://bridges;
            proxy_next_upstream error timeout non_idempotent;
            proxy_http_version 1.1;
            proxy_set_header Connection "";
          }
        }
      }
    `,
    prefix: '/sandflow',
  });

interface Program {
  readonly args: (folder: string) => readonly string[];
  readonly configuration: (port: number, folder: string) => string;
  readonly prefix?: string;
}

async function startProgram(name: string, { args, configuration, prefix = '' }: Program): Promise<Balancer> {
  const folder = mkdtempSync(join(tmpdir(), `sandflow-${name}-`));
  const port = await freePort();
  writeFileSync(join(folder, 'conf'), `${configuration(port, folder).trim()}\n`);
  const child = spawn(name, args(folder), { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.on('data', (chunk) => (said += String(chunk)));
  await expect.poll(() => child.exitCode !== null || accepts(port)).toBe(true);
  if (child.exitCode !== null) throw new Error(`${name} ended with ${child.exitCode}: ${said}`);
  return {
    url: `http://127.0.0.1:${port}${prefix}`,
    async close() {
      await ended(child, 'SIGTERM');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Sends the signal and waits for the end of the process. */
export async function ended(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  if (child.exitCode !== null) return child.exitCode;
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
  child.kill(signal);
  return exited;
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
      .once('connect', () => {
        socket.destroy();
        resolve(true);
      })
      .once('error', () => resolve(false));
  });
}

/** A git server on loopback, over HTTP, with one repository. */
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

export interface GitServer {
  readonly url: string;
  /** The same repository as a folder of this machine. */
  readonly folder: string;
}

interface GitServerOptions {
  /** `name:token`; without it, everybody may read and nobody may push. */
  readonly login?: string;
}

/** @param files on the branch `trunk`, by their names */
export async function startGitServer(
  files: Readonly<Record<string, string>>,
  { login }: GitServerOptions = {},
): Promise<GitServer> {
  const root = mkdtempSync(join(tmpdir(), 'sandflow-git-'));
  const work = join(root, 'work');
  const folder = join(root, 'website.git');
  const git = (...args: readonly string[]) => execFileSync('git', args, { stdio: 'pipe' });
  git('init', '--quiet', '--initial-branch', 'trunk', work);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(work, name), text);
  git('-C', work, 'add', '.');
  git('-C', work, '-c', 'user.name=ann', '-c', 'user.email=ann@example.com', 'commit', '--quiet', '--message', 'Begin');
  git('clone', '--quiet', '--bare', work, folder);
  const server = createServer((request, response) => {
    const { pathname, search } = new URL(request.url ?? '/', 'http://git');
    if (login !== undefined && request.headers.authorization !== `Basic ${Buffer.from(login).toString('base64')}`) {
      request.resume();
      response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end();
      return;
    }
    const cgi = spawn('git', ['http-backend'], {
      env: {
        ...{ PATH: process.env.PATH, GIT_PROJECT_ROOT: root, GIT_HTTP_EXPORT_ALL: '1', PATH_INFO: pathname },
        ...{ QUERY_STRING: search.slice(1), REQUEST_METHOD: request.method, REMOTE_ADDR: '127.0.0.1' },
        CONTENT_TYPE: request.headers['content-type'] ?? '',
        HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
        GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
        ...(login === undefined ? {} : { REMOTE_USER: 'ann' }),
      },
    });
    request.pipe(cgi.stdin);
    const chunks: Buffer[] = [];
    cgi.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
    cgi.once('close', () => {
      const answer = Buffer.concat(chunks);
      const end = answer.indexOf('\r\n\r\n');
      for (const line of answer.subarray(0, end).toString().split('\r\n')) {
        const [name = '', value = ''] = line.split(': ');
        if (name === 'Status') response.statusCode = Number.parseInt(value, 10);
        else response.setHeader(name, value);
      }
      response.end(answer.subarray(end + 4));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
    rmSync(root, { recursive: true, force: true });
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/website.git`, folder };
}

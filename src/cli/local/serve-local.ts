import { join, resolve } from 'node:path';
import { spawnBoundToParent } from '../../os/spawn-bound-to-parent.js';
import { localServiceProgram } from '../../supervisor/local-service-program.js';
import type { CommandContext } from '../command.js';
import { announcementOf } from '../connect/local-services.js';
import type { OutputStream } from '../io.js';
import { parsePort } from '../serve/serving.js';
import type { LocalOptions } from './options.js';

/**
 * Runs the local service until the first Ctrl-C or SIGTERM, as a process that ends with this one.
 * @returns its exit code
 */
export async function serveLocal(options: LocalOptions, { io }: CommandContext): Promise<number> {
  const port = parsePort(options.port);
  const { home } = await io.readConfig();
  const place = (path: string) => resolve(io.cwd, path);
  const directory = place(options.directory ?? join(home, 'local'));
  const program = localServiceProgram();
  const child = spawnBoundToParent(
    program.command,
    [
      ...program.args,
      ...['--port', String(port), '--directory', directory],
      ...(options.apiKeyFile === undefined ? [] : ['--api-key-file', place(options.apiKeyFile)]),
      ...(options.config === undefined
        ? ['--config-if-present', join(home, 'local-service.json')]
        : ['--config', place(options.config)]),
      ...(options.assume === undefined ? [] : ['--assume', place(options.assume)]),
      ...['--announce', announcementOf(home)],
      ...(options.faults ? ['--faults'] : []),
      ...(options.readyJson ? ['--ready-json'] : []),
    ],
    { cwd: io.cwd, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  const ended = new Promise<number>((settle, fail) => {
    child.once('error', fail);
    child.once('close', (code) => settle(code ?? 1));
  });
  copy(child.stdout, io.stdout);
  copy(child.stderr, io.stderr);
  const end = () => child.kill('SIGTERM');
  io.interrupted.addEventListener('abort', end);
  if (io.interrupted.aborted) end();
  try {
    return await ended;
  } finally {
    io.interrupted.removeEventListener('abort', end);
  }
}

function copy(from: NodeJS.ReadableStream | null, to: OutputStream): void {
  from?.on('data', (chunk: Uint8Array) => to.write(chunk));
}

#!/usr/bin/env node
/** The entry of the program. Only this file handles signals and exits. */
import { constants } from 'node:os';
import { fileURLToPath } from 'node:url';
import { runCli } from './run-cli.js';

const interrupt = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    if (interrupt.signal.aborted) process.exit(128 + constants.signals[signal]);
    interrupt.abort(signal);
  });
}
// A closed pipe, as with `| head`, is not an error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});

const exitCode = await runCli(process.argv.slice(2), {
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  cwd: process.cwd(),
  main: { command: process.execPath, args: [fileURLToPath(import.meta.url)] },
  readConfig: async ({ connection } = {}) => (await import('../config.js')).readConfig(undefined, connection),
  umask: (mask) => void process.umask(mask),
  interrupted: interrupt.signal,
});
process.stdout.write('', () => process.exit(exitCode));
// A reader that has stopped reading, such as `less`, must not keep an interrupted command alive.
if (interrupt.signal.aborted) setTimeout(() => process.exit(exitCode), 1_000);

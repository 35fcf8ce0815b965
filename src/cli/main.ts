#!/usr/bin/env node
/** The entry of the program. Only this file handles signals and exits. */
import { constants } from 'node:os';
import { fileURLToPath } from 'node:url';
import { inspect } from 'node:util';
import { withoutSecrets } from '../contract/workflow-safe/without-secrets.js';
import { exitCodes } from './exit-codes.js';
import { runCli } from './run-cli.js';

const interrupt = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    if (interrupt.signal.aborted) process.exit(128 + constants.signals[signal]);
    interrupt.abort(signal);
  });
}
let lost: NodeJS.ErrnoException | undefined;
// A closed pipe, as with `| head`, is not an error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') lost ??= error;
});
// A job must not be affected if nobody reads the messages of the command that started it.
process.stderr.on('error', () => undefined);
// Node's own report of an uncaught error would show the secrets in it.
process.on('uncaughtException', (error) => {
  process.stderr.write(`${withoutSecrets(inspect(error))}\n`, () => process.exit(exitCodes.internal));
});

const exitCode = await runCli(process.argv.slice(2), {
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  cwd: currentFolder(),
  main: { command: process.execPath, args: [fileURLToPath(import.meta.url)] },
  readConfig: async () => {
    const { readConfig, shareProxies } = await import('../config.js');
    shareProxies();
    return readConfig();
  },
  umask: (mask) => void process.umask(mask),
  interrupted: interrupt.signal,
});
// The error of an earlier write may arrive after this write has ended.
process.stdout.write('', () => setImmediate(() => process.exit(lost ? sayLost(lost) : exitCode)));
// A reader that has stopped reading, such as `less`, must not keep an interrupted command alive.
if (interrupt.signal.aborted) setTimeout(() => process.exit(exitCode), 1_000);

function sayLost({ code }: NodeJS.ErrnoException): number {
  const why = code === 'ENOSPC' ? 'its disk is full' : (code ?? 'an unknown error');
  process.stderr.write(
    `error: The output could not be written: ${why}. Nothing else is lost: print it again, to another place.\n`,
  );
  return exitCode === exitCodes.done ? exitCodes.unreachable : exitCode;
}

function currentFolder(): string {
  try {
    return process.cwd();
  } catch {
    process.stderr.write('error: The current folder was deleted, or cannot be read. Change to another folder.\n');
    process.exit(exitCodes.usage);
  }
}

#!/usr/bin/env node
/**
 * The entry of the program. Only this file handles signals and exits. It loads the rest of the program after it has
 * checked that the program can run here.
 */
import { runtimeProblem } from './runtime.js';

const problem = runtimeProblem(process.versions);
if (problem === undefined) void run();
else process.stderr.write(`error: ${problem}\n`, () => process.exit(2));

async function run(): Promise<void> {
  const { fileURLToPath } = await import('node:url');
  const { inspect } = await import('node:util');
  const args = process.argv.slice(2);
  const isWorker = ['worker', 'upgrade'].includes(args.find((arg) => !arg.startsWith('-')) ?? '');
  const loaded = isWorker ? await import('./start-worker.js') : await import('./start.js');
  const { askedToEnd, exitCodes, isPlainTerminal, readConfig, runCli, withoutSecrets } = loaded;

  const interrupted = askedToEnd((code) => process.exit(code));
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

  const exitCode = await runCli(args, {
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    // biome-ignore lint/style/noProcessEnv: these describe the terminal, and are no settings of sandflow.
    plainLines: isPlainTerminal(process.env),
    cwd: currentFolder(exitCodes.usage),
    main: { command: process.execPath, args: [fileURLToPath(import.meta.url)] },
    readConfig,
    umask: (mask) => void process.umask(mask),
    interrupted,
  });
  const codeOfLost = ({ code }: NodeJS.ErrnoException): number => {
    const why = code === 'ENOSPC' ? 'its disk is full' : (code ?? 'an unknown error');
    process.stderr.write(
      `error: The output could not be written: ${why}. Nothing else is lost: print it again, to another place.\n`,
    );
    return exitCode === exitCodes.done ? exitCodes.unreachable : exitCode;
  };
  // The error of an earlier write may arrive after this write has ended.
  process.stdout.write('', () => setImmediate(() => process.exit(lost ? codeOfLost(lost) : exitCode)));
  // A reader that has stopped reading, such as `less`, must not keep an interrupted command alive.
  if (interrupted.aborted) setTimeout(() => process.exit(exitCode), 1_000);
}

function currentFolder(exitCode: number): string {
  try {
    return process.cwd();
  } catch {
    process.stderr.write('error: The current folder was deleted, or cannot be read. Change to another folder.\n');
    process.exit(exitCode);
  }
}

#!/usr/bin/env node
/** The program `sandflow-local-service`. */
import { createRequire } from 'node:module';
import { inspect } from 'node:util';
import { SandflowError } from '../../../src/errors/sandflow-error.js';
import { errorKindOf } from '../../../src/errors/sandflow-error-codes.js';
import { withoutSecrets } from '../../../src/errors/without-secrets.js';
import { askedToEnd } from '../../../src/os/end-signals.js';
import { readOptions, usage } from './options.js';
import { serve } from './serve.js';

const ended = askedToEnd((code) => process.exit(code));

// Node's own report of an uncaught error would show the secrets in it.
process.on('uncaughtException', (error) => {
  process.stderr.write(`${withoutSecrets(inspect(error))}\n`, () => process.exit(exitCodeOf(error)));
});

try {
  const options = readOptions(process.argv.slice(2));
  if (options === 'help') process.stdout.write(usage);
  else if (options === 'version') process.stdout.write(`${versionOfPackage()}\n`);
  else await serve(options, { stdout: process.stdout, stderr: process.stderr, ended });
} catch (error) {
  const isPlanned = error instanceof SandflowError || isOfSystem(error);
  process.stderr.write(`error: ${isPlanned ? error.message : withoutSecrets(inspect(error))}\n`);
  process.exitCode = exitCodeOf(error);
}

/** As those of `sandflow`: 2 for what a repetition does not mend, 3 for what may pass, 70 for a defect. */
function exitCodeOf(error: unknown): number {
  if (error instanceof SandflowError) return errorKindOf(error.code) === 'usage' ? 2 : 3;
  if (!isOfSystem(error)) return 70;
  return error.code === 'ENOSPC' || error.code === 'EDQUOT' ? 3 : 2;
}

/** An error such as that of a file, whose message names the call and the path. */
function isOfSystem(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error;
}

function versionOfPackage(): string {
  // The same depth in the sources and in the build.
  const { version } = createRequire(import.meta.url)('sandflow-local-service/package.json') as { version: string };
  return version;
}

#!/usr/bin/env node
/** The program `sandflow-local-service`. */
import { createRequire } from 'node:module';
import { SandflowError } from '../../../src/errors/sandflow-error.js';
import { errorKindOf } from '../../../src/errors/sandflow-error-codes.js';
import { readOptions, usage } from './options.js';
import { serve } from './serve.js';

const ended = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => ended.abort(signal));

try {
  const options = readOptions(process.argv.slice(2));
  if (options === 'help') process.stdout.write(usage);
  else if (options === 'version') process.stdout.write(`${versionOfPackage()}\n`);
  else await serve(options, { stdout: process.stdout, stderr: process.stderr, ended: ended.signal });
} catch (error) {
  process.stderr.write(`error: ${error instanceof SandflowError ? error.message : String((error as Error).stack)}\n`);
  process.exitCode = exitCodeOf(error);
}

/** As those of `sandflow`: 2 for what a repetition does not mend, 3 for what may pass, 70 for a defect. */
function exitCodeOf(error: unknown): number {
  if (!(error instanceof SandflowError)) return 70;
  return errorKindOf(error.code) === 'usage' ? 2 : 3;
}

function versionOfPackage(): string {
  // The same depth in the sources and in the build.
  const { version } = createRequire(import.meta.url)('sandflow-local-service/package.json') as { version: string };
  return version;
}

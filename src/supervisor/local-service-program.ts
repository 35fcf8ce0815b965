/** Finds the program of the local service: a package of its own, which an installation for production leaves out. */
import { createRequire } from 'node:module';
import { SandflowError } from '../errors/sandflow-error.js';
import type { MainProgram } from './children.js';

const packageName = 'sandflow-local-service';

/**
 * How the program is started: `node` and its path.
 * @throws SandflowError `bad_configuration` if the package is not installed
 */
export function localServiceProgram(): MainProgram {
  try {
    return { command: process.execPath, args: [createRequire(import.meta.url).resolve(`${packageName}/program`)] };
  } catch (cause) {
    throw new SandflowError(
      'bad_configuration',
      `The local Sandbox Service is not installed. Add it with \`npm install ${packageName}\`, or set SANDBOX_API_URL to use a service.`,
      { cause },
    );
  }
}

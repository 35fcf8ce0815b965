/** The command line of `sandflow-local-service`. */
import { parseArgs } from 'node:util';
import { SandflowError } from '../../../src/errors/sandflow-error.js';
import { unexpandedPath } from '../../../src/settings/mistaken-text.js';

export const usage = `Usage: sandflow-local-service --directory <path> [options]

Runs the local Sandbox Service on this machine until Ctrl-C or SIGTERM.

  --directory <path>          directory of the disks and the database; created if missing
  --port <port>               port to listen on; 0 for any free port (default: 7391)
  --api-key-file <path>       file of the API key that the service accepts; created if missing
                              (default: "api-key" in the directory)
  --config <file>             JSON with commandAgents, timings, limits… (default: "local-service.json" in the
                              directory, if it is there)
  --config-if-present <file>  the same, of a file that may be missing
  --assume <file>             also the deviations of this record of sandflow doctor --probe
  --announce <file>           holds the address while the service runs, as JSON
  --faults                    allow fault injection, for tests
  --ready-json                print one JSON line on stdout when ready
  --version, --help
`;

export interface ProgramOptions {
  readonly directory: string;
  readonly port: number;
  readonly apiKeyFile: string | undefined;
  readonly config: string | undefined;
  readonly configIfPresent: string | undefined;
  readonly assume: string | undefined;
  readonly announce: string | undefined;
  readonly faults: boolean;
  readonly readyJson: boolean;
}

const text = { type: 'string' } as const;
const flag = { type: 'boolean', default: false } as const;
const grammar = {
  ...{ directory: text, port: { ...text, default: '7391' }, 'api-key-file': text },
  ...{ config: text, 'config-if-present': text, assume: text, announce: text },
  ...{ faults: flag, 'ready-json': flag, version: flag, help: flag },
};

/**
 * @returns the options; `version` or `help` if that is asked for
 * @throws SandflowError `bad_usage`
 */
export function readOptions(args: readonly string[]): ProgramOptions | 'version' | 'help' {
  const { values } = parsed(args);
  if (values.help) return 'help';
  if (values.version) return 'version';
  for (const [name, value] of Object.entries(values)) {
    if (value === '') throw badUsage(`--${name}: give a value.`);
    const problem = typeof value === 'string' ? unexpandedPath(value) : undefined;
    if (problem !== undefined) throw badUsage(`--${name} ${problem}.`);
  }
  if (values.directory === undefined) throw badUsage('--directory is missing.');
  return {
    directory: values.directory,
    port: parsePort(values.port),
    apiKeyFile: values['api-key-file'],
    config: values.config,
    configIfPresent: values['config-if-present'],
    assume: values.assume,
    announce: values.announce,
    faults: values.faults,
    readyJson: values['ready-json'],
  };
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: grammar });
  } catch (error) {
    throw badUsage(error instanceof Error ? error.message : String(error));
  }
}

function parsePort(port: string): number {
  if (/^\d{1,5}$/.test(port) && Number(port) <= 65_535) return Number(port);
  throw badUsage(`--port: "${port}" is not a port, from 0 to 65535.`);
}

const badUsage = (message: string) => new SandflowError('bad_usage', message);

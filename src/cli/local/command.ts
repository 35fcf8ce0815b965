import type { AddCommand } from '../command.js';
import type { LocalOptions } from '../serve/serve-local.js';
import { addLocalAssumptions } from './assumptions.js';
import { addLocalClock } from './clock.js';
import { addLocalExport } from './export.js';
import { addLocalImport } from './import.js';
import { addLocalLog } from './log.js';
import { addLocalReset } from './reset.js';
import { addLocalSeed } from './seed.js';

export const addLocal: AddCommand = (parent, context) => {
  const local = parent
    .command('local')
    .description('Run only the local Sandbox Service, for this machine; subcommands inspect and change a running one')
    .option('--port <port>', 'port to listen on; 0 for any free port', '7391')
    .option('--directory <path>', 'directory of its disks and database (default: "local" in SANDFLOW_HOME)')
    .option(
      '--api-key-file <path>',
      'file of the API key that it accepts; created if missing (default: "api-key" in the directory)',
    )
    .option(
      '--config <file>',
      'JSON with commandAgents, timings, limits… (default: local-service.json in SANDFLOW_HOME)',
    )
    .option('--faults', 'allow fault injection, for tests')
    .option('--ready-json', 'print one JSON line on stdout when ready')
    .action(async (options: LocalOptions) => {
      const { serveLocal } = await import('../serve/serve-local.js');
      context.exitCode = await serveLocal(options, context.io);
    });
  const subcommands = [
    addLocalLog,
    addLocalAssumptions,
    addLocalClock,
    addLocalExport,
    addLocalImport,
    addLocalSeed,
    addLocalReset,
  ];
  for (const add of subcommands) {
    add(local, context);
  }
};

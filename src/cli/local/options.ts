import type { OptionsOf, Parent } from '../command.js';

export const declareLocal = (parent: Parent) =>
  parent
    .command('local')
    .description('Run only the local Sandbox Service, on this machine; subcommands inspect and change a running one')
    .summary('Run only the local Sandbox Service; inspect and change it')
    .option('--port <port>', 'port to listen on; 0 for any free port', '7391')
    .option('--directory <path>', 'directory of the disks and the database (default: "local" in SANDFLOW_HOME)')
    .option(
      '--api-key-file <path>',
      'file of the API key that the service accepts; created if missing (default: "api-key" in the directory)',
    )
    .option(
      '--config <file>',
      'JSON with commandAgents, timings, limits… (default: local-service.json in SANDFLOW_HOME)',
    )
    .option('--assume <file>', 'do as the service of this record of `doctor --probe`')
    .option('--faults', 'allow fault injection, for tests')
    .option('--ready-json', 'print one JSON line on stdout when ready');

export const declareClock = (parent: Parent) =>
  parent
    .command('clock')
    .description('Read, hold, release or advance the clock of a running local service')
    .option('--hold', 'stop the clock')
    .option('--release', 'let the clock run again; if it is behind the real time, it first moves forward to it')
    .option('--advance <duration>', 'move the clock forward, like 15d; everything due until then happens in order')
    .option('--json', 'print one JSON object on stdout');

export const declareSeed = (parent: Parent) =>
  parent
    .command('seed')
    .description('Add sandboxes, webhooks, environments and accounts to a running local service, atomically')
    .argument('<file>', 'a JSON document')
    .option('--json', 'print one JSON object on stdout, with the created keys and secrets');

export const declareReset = (parent: Parent) =>
  parent
    .command('reset')
    .description('Delete every sandbox, webhook and record of a running local service')
    .option('--yes', 'confirm; this cannot be undone')
    .option('--json', 'print one JSON object on stdout');

export type LocalOptions = OptionsOf<typeof declareLocal>;
export type ClockOptions = OptionsOf<typeof declareClock>;

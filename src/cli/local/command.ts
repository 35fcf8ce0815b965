import type { AddCommand, OptionsOf, Parent } from '../command.js';

const serve = (parent: Parent) =>
  parent
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
    .option('--ready-json', 'print one JSON line on stdout when ready');

const log = (parent: Parent) =>
  parent
    .command('log')
    .description('Show the calls to a running local service, one per line, without bodies, keys or secrets')
    .option('--follow', 'keep printing new calls until Ctrl-C')
    .option('-n, --lines <count>', 'number of recent calls to show first', '20')
    .option('--endpoint <name>', 'only calls to this endpoint, like createSandbox')
    .option('--status <status>', 'only this response status or class, like 404 or 5xx')
    .option('--json', 'print each call as one line of JSON');

const clock = (parent: Parent) =>
  parent
    .command('clock')
    .description('Read, hold, release or advance the clock of a running local service')
    .option('--hold', 'stop the clock')
    .option('--release', 'let the clock run again')
    .option('--advance <duration>', 'move the clock forward, like 15d; everything due on the way happens in order')
    .option('--json', 'print one JSON object on stdout');

export type LocalOptions = OptionsOf<typeof serve>;
export type LocalLogOptions = OptionsOf<typeof log>;
export type ClockOptions = OptionsOf<typeof clock>;

/** `sandflow local`: runs the local service, and administers a running one. */
export const addLocal: AddCommand = (parent, context) => {
  const local = serve(parent).action(async (options) =>
    (await import('../serve/serve-local.js')).serveLocal(options, context.io),
  );
  log(local).action(async (options) => (await import('./show-log.js')).showLog(options, context));
  local
    .command('assumptions')
    .description('List the assumptions beyond the specification that responses of a running local service relied on')
    .option('--json', 'print one JSON object on stdout')
    .action(async (options) => (await import('./administer.js')).listAssumptions(options, context));
  clock(local).action(async (options) => (await import('./administer.js')).setClock(options, context));
  local
    .command('export')
    .description('Export the state of a running local service to a file: records, disks, snapshots and secrets')
    .argument('<file>', 'output file, a gzipped tar; an existing file is replaced')
    .option('--json', 'print one JSON object on stdout')
    .action(async (file, options) => (await import('./administer.js')).exportState(file, options, context));
  local
    .command('import')
    .description('Replace the state of a running local service with an export, atomically')
    .argument('<file>', 'a file from `sandflow local export`')
    .option('--json', 'print one JSON object on stdout')
    .action(async (file, options) => (await import('./administer.js')).importState(file, options, context));
  local
    .command('seed')
    .description('Add sandboxes, webhooks, environments and accounts to a running local service, atomically')
    .argument('<file>', 'a JSON document')
    .option('--json', 'print one JSON object on stdout, with the created keys and secrets')
    .action(async (file, options) => (await import('./administer.js')).seedState(file, options, context));
  local
    .command('reset')
    .description('Delete every sandbox, webhook and record of a running local service')
    .option('--yes', 'confirm; this cannot be undone')
    .option('--json', 'print one JSON object on stdout')
    .action(async (options) => (await import('./administer.js')).resetState(options, context));
};

/** The grammar of the commands that serve until a signal. */
import { type AddCommand, collect, type OptionsOf, type Parent } from '../command.js';

const worker = (parent: Parent) =>
  parent
    .command('worker')
    .description('Run a worker; SIGTERM drains it')
    .option('--notify-commands <file>', 'JSON file of the commands that notifications may run on this machine, by id')
    .addOption(parent.createOption('--allow-notify-commands').hideHelp())
    .option('--metrics <address>', 'serve Prometheus metrics at host:port, like 127.0.0.1:9464 (default: off)')
    .option('--ready-json', 'print one JSON line on stdout when ready');

const bridge = (parent: Parent) =>
  parent
    .command('bridge')
    .description('Receive webhooks and signal the workflows that wait for them')
    .option('--port <port>', 'port to listen on; 0 for any free port', '7392')
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--metrics <address>', 'serve Prometheus metrics at host:port, like 127.0.0.1:9465 (default: off)')
    .option('--ready-json', 'print one JSON line on stdout when ready');

const codecServer = (parent: Parent) =>
  parent
    .command('codec-server')
    .description('Decode payloads for the Temporal UI and CLI')
    .requiredOption('--token-file <file>', 'a file of mode 600 with the token that callers must send')
    .option(
      '--origin <origin>',
      'origin whose pages may call, like https://temporal.example.com (repeatable)',
      collect,
      [],
    )
    .option('--port <port>', 'port to listen on; 0 for any free port', '8234')
    .option('--host <host>', 'address to listen on', '127.0.0.1')
    .option('--ready-json', 'print one JSON line on stdout when ready');

export type WorkerOptions = OptionsOf<typeof worker>;
export type BridgeOptions = OptionsOf<typeof bridge>;
export type CodecOptions = OptionsOf<typeof codecServer>;

export const addDev: AddCommand = (parent, context) => {
  parent
    .command('dev')
    .description('Run the embedded stack in the foreground and print its addresses')
    .option('--ready-json', 'print one JSON line on stdout when ready')
    .action(async (options) => (await import('./serve-stack.js')).serveDev(options, context.io));
};

export const addWorker: AddCommand = (parent, context) => {
  worker(parent).action(async (options) => (await import('./serve-worker.js')).serveWorker(options, context.io));
};

export const addBridge: AddCommand = (parent, context) => {
  bridge(parent).action(async (options) => (await import('./serve-bridge.js')).serveBridge(options, context.io));
};

export const addCodecServer: AddCommand = (parent, context) => {
  codecServer(parent).action(async (options) => (await import('./serve-codec.js')).serveCodec(options, context.io));
};

/** A hidden command. Commands such as `run` start it in the background, once per SANDFLOW_HOME. */
export const addSupervisor: AddCommand = (parent, context) => {
  parent
    .command('supervisor', { hidden: true })
    .description('Hold the embedded stack of a SANDFLOW_HOME')
    .action(async () => (await import('./serve-stack.js')).serveSupervisor(context.io));
};

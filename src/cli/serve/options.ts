/** The grammar of the commands that serve until a signal. */
import { collect, type OptionsOf, type Parent } from '../command.js';

export const declareWorker = (parent: Parent) =>
  parent
    .command('worker')
    .description('Run a worker; SIGTERM drains it')
    .option('--metrics <address>', 'serve Prometheus metrics at host:port, like 127.0.0.1:9464 (default: off)')
    .option('--health <address>', 'serve /healthz and /readyz at host:port, like 127.0.0.1:9466 (default: off)')
    .option('--workflow-stacks', 'keep stack traces in workflow code, for debugging; costs CPU time')
    .option('--ready-json', 'print one JSON line on stdout when ready');

export const declareBridge = (parent: Parent) =>
  parent
    .command('bridge')
    .description('Receive webhooks and signal the workflows that wait for them')
    .option('--port <port>', 'port to listen on; 0 for any free port', '7392')
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--metrics <address>', 'serve Prometheus metrics at host:port, like 127.0.0.1:9465 (default: off)')
    .option('--drain <duration>', 'after SIGTERM, /readyz answers 503 and deliveries are accepted this long', '5s')
    .option('--ready-json', 'print one JSON line on stdout when ready');

export const declareCodecServer = (parent: Parent) =>
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

export type WorkerOptions = OptionsOf<typeof declareWorker>;
export type BridgeOptions = OptionsOf<typeof declareBridge>;
export type CodecOptions = OptionsOf<typeof declareCodecServer>;

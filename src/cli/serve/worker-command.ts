import { Option } from 'commander';
import type { AddCommand } from '../command.js';
import type { WorkerOptions } from './serve-worker.js';

export const addWorker: AddCommand = (parent, context) => {
  parent
    .command('worker')
    .description('Run a worker; SIGTERM drains it')
    .option('--notify-commands <file>', 'JSON file of the commands that notifications may run on this machine, by id')
    .addOption(new Option('--allow-notify-commands').hideHelp())
    .option('--metrics <address>', 'serve Prometheus metrics at host:port, like 127.0.0.1:9464 (default: off)')
    .option('--ready-json', 'print one JSON line on stdout when ready')
    .action(async (options: WorkerOptions) => {
      const { serveWorker } = await import('./serve-worker.js');
      context.exitCode = await serveWorker(options, context.io);
    });
};

import type { AddCommand } from '../command.js';
import type { BridgeOptions } from './serve-bridge.js';

export const addBridge: AddCommand = (parent, context) => {
  parent
    .command('bridge')
    .description('Receive webhooks and signal the workflows that wait for them')
    .option('--port <port>', 'port to listen on; 0 for any free port', '7392')
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--metrics <address>', 'serve Prometheus metrics at host:port, like 127.0.0.1:9465 (default: off)')
    .option('--ready-json', 'print one JSON line on stdout when ready')
    .action(async (options: BridgeOptions) => {
      const { serveBridge } = await import('./serve-bridge.js');
      context.exitCode = await serveBridge(options, context.io);
    });
};

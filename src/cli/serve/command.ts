import type { AddCommand } from '../command.js';
import { declareBridge, declareCodecServer, declareWorker } from './options.js';
import { parseAddress, parseDrainMs, parsePort } from './serving.js';

export const addWorker: AddCommand = (parent, context) => {
  declareWorker(parent).action(async (options) => {
    if (options.metrics !== undefined) parseAddress('--metrics', options.metrics);
    const health = options.health === undefined ? undefined : parseAddress('--health', options.health);
    await (await import('./serve-worker.js')).serveWorker({ ...options, health }, context.io);
  });
};

export const addBridge: AddCommand = (parent, context) => {
  declareBridge(parent).action(async (options) => {
    const port = parsePort(options.port);
    const metrics = options.metrics === undefined ? undefined : parseAddress('--metrics', options.metrics);
    const drainMs = parseDrainMs(options.drain);
    await (await import('./serve-bridge.js')).serveBridge({ port, metrics, drainMs }, options, context.io);
  });
};

export const addCodecServer: AddCommand = (parent, context) => {
  declareCodecServer(parent).action(async (options) => {
    const port = parsePort(options.port);
    await (await import('./serve-codec.js')).serveCodec(port, options, context.io);
  });
};

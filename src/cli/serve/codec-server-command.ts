import { type AddCommand, collect } from '../command.js';
import type { CodecOptions } from './serve-codec.js';

export const addCodecServer: AddCommand = (parent, context) => {
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
    .option('--ready-json', 'print one JSON line on stdout when ready')
    .action(async (options: CodecOptions) => {
      const { serveCodec } = await import('./serve-codec.js');
      context.exitCode = await serveCodec(options, context.io);
    });
};

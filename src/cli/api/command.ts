import { type AddCommand, collect } from '../command.js';
import type { CallApiOptions } from './call-api.js';

export const addApi: AddCommand = (parent, context) => {
  parent
    .command('api')
    .description('Call any endpoint of the service with the configured key')
    .argument('<method>', 'GET, POST, PUT, PATCH or DELETE')
    .argument('<path>', 'relative to SANDBOX_API_URL, like /sandboxes')
    .option('--field <key=value>', 'a field of the JSON body; numbers, true, false, null and JSON as such', collect, [])
    .option('--body <file>', 'a file with the JSON body; - is stdin')
    .option('--query <key=value>', 'a parameter of the query', collect, [])
    .option('--confirm <id>', 'with DELETE: the id that the path ends with')
    .option('--output <file>', 'write a successful answer to a file, as it comes')
    .option('--include', 'print status and headers before the answer')
    .option('--timeout <duration>', 'the longest silence of the service', '2m')
    .action(async (method: string, path: string, options: CallApiOptions) => {
      const { callApi } = await import('./call-api.js');
      context.exitCode = await callApi(method, path, options, context);
    });
};

import { collect, type OptionsOf, type Parent } from '../command.js';

export const declareApi = (parent: Parent) =>
  parent
    .command('api')
    .description('Call any endpoint of the service with the configured key')
    .argument('<method>', 'GET, POST, PUT, PATCH or DELETE')
    .argument('<path>', 'relative to SANDBOX_API_URL, like /sandboxes')
    .option(
      '-F, --field <key=value>',
      'a typed field of the JSON body: a number, true, false, null or other JSON, @file for its text, else text (repeatable)',
      collect,
      [],
    )
    .option('--body <file>', 'a file with the JSON body, or - for stdin')
    .option('--query <key=value>', 'a query parameter (repeatable)', collect, [])
    .option('--confirm <id>', 'with DELETE: repeat the id at the end of the path')
    .option('--timeout <duration>', 'how long to wait without data from the service', '2m');

export type ApiOptions = OptionsOf<typeof declareApi>;

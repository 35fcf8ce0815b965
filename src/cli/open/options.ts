import type { OptionsOf, Parent } from '../command.js';

const help = `
Examples:
  sandflow open                          the workflows in Temporal's UI
  sandflow open nightly-42               the page of a job or a batch there
  sandflow open nightly-42 --report      its report, written as \`jobs report\` and \`fanout report\` write it
  sandflow open nightly-42 --print       print the URL, and open nothing

If stdout is not a terminal, the URL is only printed. Nothing is started: \`sandflow up\` starts the stack.
`;

export const declareOpen = (parent: Parent) =>
  parent
    .command('open')
    .description("Open Temporal's UI, the page of a job or a batch there, or its report, in the browser")
    .argument('[id]', "id of the job or batch (default: Temporal's UI)")
    .option('--report', 'write the report of the job or batch, and open it')
    .option('--print', 'print the URL, and open nothing')
    .option('--json', 'print one JSON object on stdout, and open nothing')
    .addHelpText('after', help);

export type OpenOptions = OptionsOf<typeof declareOpen>;

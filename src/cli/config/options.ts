import type { Parent } from '../command.js';

const help = `
Examples:
  sandflow config                    every setting, and where it is set

Order: option, environment, project file, built-in. The project file, sandflow.json, holds defaults of run and fanout.
It is searched upwards to the root of the repository:
  {"run": {"type": "large", "labels": {"team": "search"}}, "fanout": {"concurrency": 5}}
`;

export const declareConfig = (parent: Parent) =>
  parent
    .command('config')
    .description('Show the current settings and the source of each; starts nothing')
    .option('--json', 'print one JSON object on stdout')
    .addHelpText('after', help);

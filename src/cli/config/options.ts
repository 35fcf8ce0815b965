import type { Parent } from '../command.js';

const help = `
Examples:
  sandflow config                    every setting that is set, and where
  sandflow config --profile work     as the commands see it with this profile
  sandflow run task.md --profile work

Order: option, environment, profile, project file, built-in. Two files hold settings:
  sandflow.json    defaults of run and fanout for a project, searched upwards to the root of the repository:
                   {"run": {"type": "large", "labels": {"team": "search"}}, "fanout": {"concurrency": 5}}
  config.json      in SANDFLOW_HOME, mode 600: your profiles, with connections and defaults:
                   {"profile": "work", "profiles": {"work": {"connection": {"apiUrl": "https://api.example.com/v1",
                   "apiKeyFile": "/home/me/key"}, "run": {"model": "m1"}}}}
`;

export const declareConfig = (parent: Parent) =>
  parent
    .command('config')
    .description('Show the current settings and the source of each; starts nothing')
    .option('--json', 'print one JSON object on stdout')
    .addHelpText('after', help);

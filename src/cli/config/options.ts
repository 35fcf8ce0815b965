import { jsonCommand, type Parent } from '../command.js';

const help = `
Examples:
  sandflow config                    every setting, and where it is set

Settings come from the environment: SANDBOX_API_URL, SANDBOX_API_KEY, SANDBOX_WEBHOOK_SECRET, TEMPORAL_*,
SANDFLOW_DEPLOYMENT, SANDFLOW_TASK_QUEUE, SANDFLOW_PATIENCE_SECONDS, SANDFLOW_ENCRYPTION_KEYS_FILE,
SANDFLOW_HOME, SANDFLOW_IDLE_SECONDS, SANDFLOW_TEMPORAL_UI. If none is set, everything runs on this machine.

Order: option, environment, project file, built-in. The project file, sandflow.json, holds defaults of run and fanout.
It is searched upwards to the root of the repository:
  {"run": {"type": "large", "labels": {"team": "search"}}, "fanout": {"concurrency": 5}}
`;

export const declareConfig = (parent: Parent) =>
  jsonCommand(parent, 'config', 'Show the current settings and the source of each; starts nothing').addHelpText(
    'after',
    help,
  );

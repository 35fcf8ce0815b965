import { section, untestable } from '../rule-record.js';

export const processRules = {
  ...section('Process entry', {
    'processes.entry':
      'pid, command, parentPid, user, cpuPercent, memoryMB, startedAt and commandId, with the types of the specification.',
    'processes.command-id': 'A process that a command started carries the `commandId` of that command.',
  }),
  ...section('GET /sandboxes/{sandboxId}/processes', {
    'processes.response': '200, type `process.list`, with live, sampledAt, total and processes.',
    'processes.at-most-500': 'The list holds at most 500 entries.',
    'processes.live': '`live` true: read from the running sandbox now.',
    'processes.stopped-sample': '`live` false: the sandbox is stopped and the list is the last kept sample.',
    'processes.agent-not-upgraded': untestable(
      '`live` is also false while the agent of the sandbox is not upgraded yet.',
      'The specification shows no way to create a sandbox with an older agent.',
    ),
    'processes.sample-top-12': 'The sample is the top 12 processes.',
    'processes.sample-every-30s': 'The sample is taken every 30 seconds.',
    'processes.sample-kept-7-days': 'The sample is kept 7 days.',
  }),
};

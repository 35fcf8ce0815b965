import { jsonCommand, type OptionsOf, type Parent } from '../command.js';

const help = `
Examples:
  sandflow cleanup plan policy.yaml               show what it would do, and count the rest by reason
  sandflow cleanup plan policy.yaml --all         also list each sandbox that it skips
  sandflow cleanup run policy.yaml                run it
  sandflow cleanup run policy.yaml --ignore-window   run it now, although no window of the policy is open
  sandflow schedule add cleanup policy.yaml       run it every night
  sandflow cleanup report                         show the result of the last run

Exit codes:
  0    the plan is complete, or every due action was done or skipped for a reason
  1    an action failed or was not confirmed, or nothing was done: outside the window, during another run, or
       because a limit of the policy lets nothing act on an account of this size, or a pattern of protect matches
       nothing; \`report\` ends as the run that it shows
  130  Ctrl-C ended the command; the cleanup continues, if it was started
`;

export const declareCleanup = (parent: Parent) =>
  parent
    .command('cleanup')
    .description('Stop and delete sandboxes by a policy; skip those still in use')
    .addHelpText('after', help);

const allText = 'also list each sandbox that is skipped, with the reason, and every pattern that matches nothing';
const ignoreWindowText = 'act at any time; the limits of the night still apply';

export const declarePlan = (parent: Parent) =>
  parent
    .command('plan')
    .description('Show what a policy would do now, without changes')
    .argument('<policy>', 'a policy file')
    .option('--all', allText)
    .option('--ignore-window', ignoreWindowText)
    .option('--json', 'print one JSON object on stdout');

export const declareRun = (parent: Parent) =>
  parent
    .command('run')
    .description('Plan, then run the plan; each action is checked again right before it')
    .argument('<policy>', 'a policy file')
    .option('--all', allText)
    .option('--ignore-window', ignoreWindowText)
    .option('--detach', 'start it, print its id and exit')
    .option('--json', 'print one JSON object on stdout');

export const declareReport = (parent: Parent) =>
  parent
    .command('report')
    .description('Show the report of the last cleanup, or of a given one')
    .argument('[id]', 'id of a run (default: the last run that has ended)')
    .option('--all', allText)
    .option('--json', 'print one JSON object on stdout');

export const declareValidate = (parent: Parent) =>
  jsonCommand(parent, 'validate', 'Check a policy file offline').argument('<policy>', 'a policy file');

export type RunCleanupOptions = OptionsOf<typeof declareRun>;

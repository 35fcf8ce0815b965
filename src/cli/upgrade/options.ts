import { jsonCommand, type Parent } from '../command.js';

/** Hidden: workers without SANDFLOW_BUILD_ID need only the check, and the first page of help is full. */
export const declareUpgrade = (parent: Parent) =>
  parent
    .command('upgrade', { hidden: true })
    .description('Replace the workers of a deployment by those of another build');

const checkHelp = `
Run it with the new build, before its workers start. It replays what runs, and changes nothing.

Exit codes:
  0    what is not pinned to another version can continue on this build
  1    something cannot, and is named
`;

export const declareCheck = (upgrade: Parent) =>
  jsonCommand(upgrade, 'check', 'Replay all running workflows with this build').addHelpText('after', checkHelp);

export const declareSwitch = (upgrade: Parent) =>
  upgrade
    .command('switch')
    .description('Let new jobs start with a version whose workers run; the running ones stay with theirs')
    .argument('<version>', 'what SANDFLOW_BUILD_ID of its workers is');

export const declareDrain = (upgrade: Parent) =>
  jsonCommand(upgrade, 'drain', 'Show which running workflows stay with an earlier version, and until when at most');

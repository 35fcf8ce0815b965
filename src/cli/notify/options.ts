import type { Parent } from '../command.js';

export const declareNotify = (parent: Parent) =>
  parent.command('notify').description('Manage the signing of notifications');

export const declareSecret = (parent: Parent) =>
  parent
    .command('secret')
    .description('Print the path of the signing secrets of this SANDFLOW_HOME; create the file if it is missing')
    .option('--json', 'print one JSON object on stdout');

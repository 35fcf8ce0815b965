import type { Parent } from '../command.js';

export const declareEncryption = (parent: Parent) =>
  parent.command('encryption').description('Create encryption keys, and end their use');

export const declareNewKey = (parent: Parent) =>
  parent
    .command('new-key')
    .description('Print a new key as a line for the file that SANDFLOW_ENCRYPTION_KEYS_FILE names')
    .option('--id <id>', 'id of the key, stored unencrypted with the data (default: the date)');

export const declareOff = (parent: Parent) =>
  parent.command('off').description('Let processes without keys start again, until a worker with keys announces them');

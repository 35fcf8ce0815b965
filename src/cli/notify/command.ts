import type { AddCommand } from '../command.js';
import { declareNotify, declareSecret } from './options.js';

/** `sandflow notify`: manages the secrets that sign the notifications of this installation. */
export const addNotify: AddCommand = (parent, context) => {
  const notify = declareNotify(parent);
  declareSecret(notify).action(async (options) => (await import('./files.js')).showSecretFile(options, context));
};

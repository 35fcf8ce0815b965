import type { AddCommand } from '../command.js';
import { declareConfig } from './options.js';

/** `sandflow config`: where settings come from. */
export const addConfig: AddCommand = (parent, context) => {
  declareConfig(parent).action(async (options) => (await import('./show-config.js')).showConfig(options, context));
};

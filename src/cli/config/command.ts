import { type AddCommand, lazily } from '../command.js';
import { declareConfig } from './options.js';

/** `sandflow config`: where settings come from. */
export const addConfig: AddCommand = (parent, context) => {
  declareConfig(parent).action(lazily(context, async () => (await import('./show-config.js')).showConfig));
};

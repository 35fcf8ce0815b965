import { type AddCommand, lazily } from '../command.js';
import { declareApi } from './options.js';

export const addApi: AddCommand = (parent, context) => {
  declareApi(parent).action(lazily(context, async () => (await import('./call-api.js')).callApi));
};

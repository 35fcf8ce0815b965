import type { AddCommand } from '../command.js';
import { declareApi } from './options.js';

export const addApi: AddCommand = (parent, context) => {
  declareApi(parent).action(async (method, path, options) => {
    const { callApi } = await import('./call-api.js');
    context.exitCode = await callApi(method, path, options, context);
  });
};

import type { AddCommand } from '../command.js';
import { declareOpen } from './options.js';

/** `sandflow open`: opens pages about jobs and batches in a browser. */
export const addOpen: AddCommand = (parent, context) => {
  declareOpen(parent).action(async (id, options) => (await import('./open-page.js')).openPage(id, options, context));
};

import type { AddCommand } from '../command.js';
import { declareDoctor } from './options.js';

export const addDoctor: AddCommand = (parent, context) => {
  declareDoctor(parent).action(async (options) => {
    const { runDoctor } = await import('./run-doctor.js');
    context.exitCode = await runDoctor(options, context);
  });
};

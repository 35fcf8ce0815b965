import type { AddCommand } from '../command.js';
import { UsageError } from '../usage-error.js';
import { declareDoctor } from './options.js';

export const addDoctor: AddCommand = (parent, context) => {
  declareDoctor(parent).action(async (options) => {
    if (options.probe) {
      if (options.bridge !== undefined) throw new UsageError('Use --probe or --bridge, not both.');
      const { runProbe } = await import('./probe/run-probe.js');
      context.exitCode = await runProbe(options, context);
      return;
    }
    if (options.yes) throw new UsageError('--yes requires --probe.');
    const { runDoctor } = await import('./run-doctor.js');
    context.exitCode = await runDoctor(options, context);
  });
};

import type { AddCommand } from '../command.js';

/** Hidden: `run` starts it in the background, once per SANDFLOW_HOME. */
export const addSupervisor: AddCommand = (parent, context) => {
  parent
    .command('supervisor', { hidden: true })
    .description('Hold the embedded stack of a SANDFLOW_HOME')
    .action(async () => {
      const { serveSupervisor } = await import('./serve-supervisor.js');
      context.exitCode = await serveSupervisor(context.io);
    });
};

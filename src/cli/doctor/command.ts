import type { AddCommand } from '../command.js';

export const addDoctor: AddCommand = (parent, context) => {
  parent
    .command('doctor')
    .description(
      'Check Temporal, the service, the key, the clock, the webhook, the bridge, the workers and the keys of payloads',
    )
    .option('--bridge <url>', 'address of the bridge, where it is not the embedded one')
    .option('--json', 'print one JSON object on stdout')
    .action(async (options: { readonly bridge?: string; readonly json?: boolean }) => {
      const { runDoctor } = await import('./run-doctor.js');
      context.exitCode = await runDoctor(options, context);
    });
};

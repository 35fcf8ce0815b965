import type { Parent } from '../command.js';

export const declareDoctor = (parent: Parent) =>
  parent
    .command('doctor')
    .description(
      'Check Temporal, the service, the API key, the clock, the webhook, the bridge, the workers, the settings, the encryption keys and the disk',
    )
    .summary('Check everything that jobs need, and say how to mend it')
    .option('--bridge <url>', 'address of the bridge, if it is not the embedded one')
    .option('--probe', 'instead, try what sandflow assumes about the service, with two sandboxes that it deletes')
    .option('--yes', 'with --probe: skip the confirmation')
    .option('--json', 'print one JSON object on stdout');

import { section } from '../rule-record.js';

export const stateRules = {
  ...section('States and transitions', {
    'states.creating': 'provisioning, provisioned, cloning: being created; poll get.',
    'states.usable': 'ready and idle accept prompts and interactive access.',
    'states.running': 'running: the agent works on queued prompts.',
    'states.archiving': 'archiving: stop and snapshot in progress.',
    'states.archived': 'archived: machine stopped; can be resumed or forked.',
    'states.error': 'error: provisioning or runtime failed.',
    'states.cancelled': 'cancelled is terminal: a create or fork that could not get a machine was removed.',
    'states.only-prompts-run': 'idle and running reflect only prompts; commands and SSH do not change the state.',
    'states.create-finishes': 'creating → ready or idle when a machine was obtained.',
    'states.create-ready-webhook': 'That sends `sandbox.ready` if the sandbox was non-usable before.',
    'states.cancelled-once':
      'GET reports a cancelled sandbox once, with only id, state and error, and then answers 404.',
    'states.stop-accepted': 'usable → archiving when a stop is accepted; its record is created `pending`.',
    'states.archival-completes': 'archiving → archived: stop `completed`, `endedAt` set, `sandbox.archived`.',
    'states.archival-fails': 'archiving → archiving when an attempt fails: stop `failing` with error, retried.',
    'states.resume-supersedes': 'A resume while the stop is pending or failing supersedes the stop.',
    'states.resume-archived': 'archived → usable by resume.',
    'states.enters-error': 'any → error sends `sandbox.error`.',
    'states.recovery': 'error → ready, idle or running sends `sandbox.ready`.',
    'states.auto-stop': 'usable → archiving when `archiveAfter` is reached; the stop begins within about 5 seconds.',
    'states.auto-stop-extends': 'A working agent extends the time of the auto-stop.',
    'states.hydration-ends':
      'When the background copy ends the state is unchanged; hydrated, hydratedAt and the webhook.',
    'states.no-other-moves': 'Other moves are not shown. The local service makes none of them.',
    'states.setup-moves': 'Setup script: pending → running → done or failed.',
  }),
};

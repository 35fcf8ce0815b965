/** What follows if an assumption is refuted. */
import type { ProbeId } from './probes.js';

/** The setting that helps, or the promise that no longer holds. */
export const consequences: Readonly<Partial<Record<ProbeId, string>>> = {
  clock: 'Synchronise the clock of this machine: deliveries are refused at 300 s or more.',
  delivery: 'Jobs react later, by safety polls. `doctor` without --probe says what is wrong with the bridge.',
  'A-limits': 'A batch is not told before its start that its window is above the limit.',
  'A-provider-models': 'No model is checked before a start.',
  'A-environment-list': 'No environment is checked before a start.',
  'A-webhook-record': '`webhooks` and `doctor` do not see the registrations of the account.',
  'A-api-key-row': '`doctor` does not know an unrestricted key.',
  'A-request-form': 'Set it for every command and worker.',
  'A-create-fields': 'A job gets its events by the watch of its sandbox. A cleanup does not see whose a sandbox is.',
  'A-read-lag': 'A job may take its sandbox for missing, and make another one.',
  'A-created-by': 'A rule of a cleanup with `creator` must name what a sandbox shows as `createdBy`.',
  'A-idempotency-body': 'A create whose answer is lost may make a second sandbox: that promise no longer holds.',
  'A-auto-stop-renewal': 'A job makes the auto-stop shorter and longer again. If that does not help: a longer --ttl.',
  'A-files': '`--put`, `--get` and `cp` fail.',
  'A-command': '`exec`, `--command` and `--get-diff` fail.',
  'A-posix-shell': 'Commands of jobs fail: they need mkdir, mkfifo and tee.',
  'A-prompt-states': 'A job does not see the end of its prompts in the state of the sandbox.',
  'A-events': '`jobs logs` shows less. Without a promptId, an answer may be missing.',
  'A-fork': 'Batches and `--fork` fail.',
  'A-stop-states': 'A job that ends while its sandbox is being created may not stop it.',
  'A-paging': 'Lists are followed in any usual form; of another one, commands end with `list_incomplete`.',
  'A-snapshot-record': 'A cleanup sees no snapshots, and `--from` is not checked before a start.',
  'A-header-family': 'Without SANDBOX_API_HEADER_PREFIX nothing is deleted: set it for every command and worker.',
  'A-deleted-key': 'A create that is repeated after its sandbox was deleted makes another one.',
};

export const asItIs = 'Jobs end well without it (docs/maintainers/assumptions.md).';

/**
 * The actions that a key of the service needs (specification, "Scope"). docs/security.md has the same lists, and tests
 * compare both with the calls that are made.
 */
import type { ScopeAction } from '../../contract/endpoints/endpoint.js';

/** Actions that a worker needs, each with what a worker without it does not do. */
export const workerActions = {
  'sandbox.create': 'creates no sandboxes: only jobs in an existing sandbox or a fork run',
  'sandbox.read': 'follows nothing: no job, batch, stop or cleanup ends well',
  'sandbox.update': 'does not renew the auto-stop: a sandbox may stop while its job works',
  'sandbox.stop': 'stops no sandboxes: results name them in `left`',
  'sandbox.resume': 'resumes no sandboxes: jobs in an archived one and the step `resume-and-stop` fail',
  'sandbox.fork': 'forks nothing: batches and `run --fork` fail',
  'sandbox.delete': 'deletes no sandboxes: results name them in `left`, and cleanups report them as failed',
  'agent.prompt': 'sends no prompts',
  exec: 'runs no commands and collects no patches (`--get-diff`)',
  'file.read': 'collects no files',
  'file.write': 'writes no files into sandboxes: jobs with `--put` fail',
  'snapshot.read': 'fails at cleanups of snapshots, and creates nothing from a named snapshot',
  'snapshot.write': 'deletes no snapshots: cleanups report them as failed',
} as const satisfies Partial<Record<ScopeAction, string>>;

/** The action that `webhooks connect`, `list`, `rotate` and `delete` need. */
export const webhookAction = 'account.admin' satisfies ScopeAction;

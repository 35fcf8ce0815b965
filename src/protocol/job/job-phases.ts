/** The phases of a job. Types only. */

/** The phase of a job. */
export type JobPhase =
  | 'creating'
  | 'resuming'
  | 'waiting_for_sandbox'
  | 'waiting_for_setup'
  | 'putting_files'
  | 'running_commands'
  | 'prompting'
  | 'following'
  | 'checking'
  | 'collecting_files'
  | 'interrupting'
  | 'stopping'
  | 'waiting_for_archive'
  | 'deleting'
  | 'ended';

/** A phase that a job has entered. */
export interface EnteredPhase {
  readonly phase: JobPhase;
  /** When the job entered it, as an ISO 8601 time. */
  readonly at: string;
}

/** The plan of a world: its jobs, and what goes wrong for them. A plan is data, so it can be printed and shrunk. */

import type { FaultInput } from '../../../local-service/src/index.js';
import type { EndpointName } from '../../../src/contract/endpoints/endpoints.js';
import type { SandboxEventType } from '../../../src/contract/workflow-safe/states.js';

export interface RunPlan {
  readonly kind: 'run';
  readonly key: string;
  /** `shared`: an existing sandbox in which somebody else works. */
  readonly source: 'create' | 'shared' | 'archived' | 'fork';
  readonly waitFor: 'usable' | 'hydrated';
  readonly prompts: number;
  /** All prompts have the same text, and follow one another. */
  readonly equalPrompts: boolean;
  /** How long each prompt works, in seconds. */
  readonly workSeconds: number;
  /** Length of each answer, in kB; 0 for a short one. */
  readonly answerKb: number;
  readonly conversations: 'one' | 'each';
  readonly setup: boolean;
  readonly put: boolean;
  readonly commands: number;
  /** How long each command works, in seconds. */
  readonly commandSeconds: number;
  readonly collect: boolean;
  readonly end: 'stop' | 'delete' | 'keep';
  /** `wait`: a person abandons the call after some seconds. `resend`: a person who knows that it was lost repeats it. */
  readonly onUnknown: 'abandon' | 'wait' | 'resend';
  readonly deadlineMs: number;
  readonly ttlSeconds: number;
  /** Its lease on the sandbox of somebody else lapses within seconds, unless it is renewed. */
  readonly shortLease: boolean;
  /** Null for a job without a check. */
  readonly checks: ChecksPlan | null;
  /** What of the job fails by itself, whatever happens to it; null for nothing. */
  readonly fails: 'agent' | 'provider' | 'command' | null;
}

/** A check of a job, and what the agent makes of its failures. */
export interface ChecksPlan {
  /**
   * `passes` once the agent has mended its work `mends` times. `differs` and `repeats` fail for ever, each time in another
   * or in the same way. `missing`: the shell does not find the command.
   */
  readonly shows: 'passes' | 'differs' | 'repeats' | 'missing';
  readonly mends: number;
  /** The most rounds of the job. */
  readonly rounds: number;
  /** Whether the check runs before the first prompt, too. */
  readonly before: boolean;
}

export interface BatchPlan {
  readonly kind: 'batch';
  readonly key: string;
  /** `snapshot`: a named snapshot of a person's sandbox. */
  readonly source: 'archived' | 'usable' | 'prepare' | 'snapshot';
  readonly items: number;
  readonly concurrency: number;
  readonly retries: number;
  readonly end: 'stop' | 'delete';
  /** The batch continues as new all the time, and its lease is short. */
  readonly tight: boolean;
  /** Its items fail alike, for good; null for a batch of items that do not. */
  readonly alike: AlikePlan | null;
  /** What its items name as their sources; null for a batch of one source. */
  readonly sources: SourcesPlan | null;
}

/**
 * `batch`: items that name no source have that of the batch. The next three are a person's; the others are prepared.
 * `unready`: its preparation fails until a person mends it. `missing`: a person has deleted it before.
 */
export const sourceKinds = [
  ...(['batch', 'archived', 'usable', 'snapshot'] as const),
  ...(['setup', 'environment', 'unready', 'missing'] as const),
];
export type SourceKind = (typeof sourceKinds)[number];

/** Every sandbox of this environment has a variable `PLACE`, with this name. */
export const worldEnvironment = 'world';

export interface SourcesPlan {
  /** The items name them in turn, so that each is shared. `batch` at most once; without it, the batch has no source of its own. */
  readonly of: readonly SourceKind[];
  /** At most so many are prepared or ready. */
  readonly atOnce: number;
  /** How the sandboxes end that are prepared. */
  readonly end: 'stop' | 'delete';
  /** What a person does who finds the batch ended with a failed item. `mend`: resumes it after mending its preparation. */
  readonly afterwards: 'leave' | 'resume' | 'mend';
}

/** How all items of a batch fail, and what a person does with the batch that is held for it. */
export interface AlikePlan {
  /** `check`: a check of each item cannot start. `provider`: the service does not know that of their prompts. */
  readonly by: 'check' | 'provider';
  /** As many equal failures in a row hold the batch. */
  readonly breaker: number;
  /** `mend`: lets it go on, after the check can start. `go_on`: lets it go on as it is, each time. */
  readonly whenHeld: 'mend' | 'go_on' | 'cancel';
}

export interface StopPlan {
  readonly kind: 'stop';
  readonly key: string;
  /** Number of callers who request the stop of the same sandbox. */
  readonly callers: number;
  /** The service fails so many attempts to archive the sandbox, one every 200 ms. */
  readonly fails: number;
  readonly escalation: EscalationPlan | null;
}

export interface EscalationPlan {
  /** As `--escalate` takes them. A step `delete` has its permission. */
  readonly steps: string;
  /** So many callers escalate; the others only wait. */
  readonly callers: number;
}

export interface CleanupPlan {
  readonly kind: 'cleanup';
  readonly key: string;
  readonly action: 'stop' | 'delete-sandbox';
  readonly sandboxes: number;
}

/** A job that a person starts and watches with `sandflow run`. */
export interface CommandLinePlan {
  readonly kind: 'command-line';
  readonly key: string;
  readonly workSeconds: number;
}

/** Fails until the world ends. */
export const failsForEver = 100_000;

export type JobPlan = RunPlan | BatchPlan | StopPlan | CleanupPlan | CommandLinePlan;

/** A call of a job: the first, second or third to this endpoint. */
export interface CallOfJob {
  readonly job: string;
  readonly endpoint: EndpointName;
  readonly nth: number;
  /** Counts only the calls that this activity makes. Default: all calls to the endpoint. */
  readonly activity?: string;
}

/** The history of a job's workflow has so many events. */
export interface EventOfJob {
  readonly job: string;
  readonly event: number;
}

/**
 * `before`: the service does not get the call. `accepted`: the caller does not get the answer. `answered`: the process
 * dies as the answer arrives, or (`recorded`) a moment later.
 */
export const crashTimes = ['before', 'accepted', 'answered', 'recorded'] as const;
export type CrashTime = (typeof crashTimes)[number];

export const actNames = ['stop', 'resume', 'rename', 'prompt', 'delete', 'auto-stop', 'restart'] as const;
/**
 * `lease`: a job works in the sandbox for some seconds, or waits for it. `change`: somebody resumes an archived sandbox,
 * changes a file and stops it again. `fork`: somebody forks the sandbox by hand, without a name, and works in the fork.
 */
export type ActName = (typeof actNames)[number] | 'lease' | 'change' | 'fork';

/**
 * What happens after a job has told its end. `orphans`: a cleanup stops what ended jobs have left. `nights`: somebody
 * continues the job with `--end keep`, and a cleanup stops, and another one deletes, what ended jobs have left.
 */
export type LaterEvent = 'orphans' | 'nights';

export const parts = ['worker', 'bridge', 'service', 'temporal'] as const;
export type Part = (typeof parts)[number];

/** What goes wrong, and when. Times are counted in calls, so that a plan depends little on the speed of the machine. */
export type Trouble = { readonly key: string } & (
  | { readonly kind: 'wire'; readonly at: CallOfJob; readonly fault: string; readonly times: number }
  | { readonly kind: 'act'; readonly at: CallOfJob; readonly act: ActName; readonly when: 'before' | 'after' }
  | {
      readonly kind: 'message';
      readonly at: CallOfJob;
      /** `terminate` ends the workflow that makes the call, such as an item of a batch. */
      readonly message: 'prompt' | 'long_prompt' | 'cancel' | 'terminate';
      /** Comes so long after the call has begun. Default: before it. */
      readonly afterMs?: number;
    }
  | { readonly kind: 'later'; readonly at: { readonly job: string }; readonly brings: LaterEvent }
  /** Reads show the sandbox as it was before a write, for a while. */
  | { readonly kind: 'lag'; readonly at: CallOfJob; readonly ms: number }
  /** Somebody begins to work in the sandbox of a call by prompts or by commands, or cleans it up. The call waits. */
  | { readonly kind: 'newcomer'; readonly at: CallOfJob; readonly brings: 'run' | 'command' | 'cleanup' }
  /** So many lists of all sandboxes fail, leave sandboxes out, or have a row that cannot be read. */
  | {
      readonly kind: 'lists';
      readonly afterCalls: number;
      readonly lists: number;
      readonly shows: 'nothing' | 'some' | 'bad_row';
    }
  | {
      readonly kind: 'webhook';
      /** The first, second … event of this type in the world. */
      readonly event: SandboxEventType;
      readonly nth: number;
      /** So many events of this type, from the nth on. */
      readonly times: number;
      readonly does: 'drop' | 'double' | 'delay' | 'hold' | 'old_secret' | 'forge' | 'replay';
    }
  /** While the call is made, every worker is drained and replaced, one after another. */
  | { readonly kind: 'deploy'; readonly at: CallOfJob }
  /** A death at a boundary of one job. */
  | { readonly kind: 'crash'; readonly at: CallOfJob; readonly when: CrashTime; readonly part: Part }
  | { readonly kind: 'crash'; readonly at: EventOfJob; readonly part: Part }
  /** `afterCalls`: when so many calls of all jobs have been made. */
  | { readonly kind: 'death'; readonly afterCalls: number; readonly part: Part }
  | { readonly kind: 'hours'; readonly afterCalls: number; readonly hours: number }
  | { readonly kind: 'service'; readonly afterCalls: number; readonly fault: FaultInput }
);

export interface Plan {
  readonly seed: number;
  /** Variations of the service that the specification leaves open. */
  readonly service: { readonly promptIds: boolean };
  readonly jobs: readonly JobPlan[];
  readonly troubles: readonly Trouble[];
}

/**
 * What a job hands to its next run when its history is long: one plain object, which JSON keeps unchanged. Each group of
 * fields names the files that write it.
 */
import type { DegradedSandbox, SandboxView } from '../../src/contract/workflow-safe/sandbox-view.js';
import type { DiffBase } from '../../src/protocol/job/diff.js';
import type { JobInput, PromptStep } from '../../src/protocol/job/job-input.js';
import type { EnteredPhase, JobPhase } from '../../src/protocol/job/job-phases.js';
import type { UnrenewedAutoStop } from '../../src/protocol/job/job-progress.js';
import type {
  CheckRound,
  CheckRun,
  CollectedFile,
  JobError,
  LeftBehind,
  PromptResult,
  StopResult,
  Wake,
} from '../../src/protocol/job/job-result.js';
import type { AnsweredUpdate } from '../shared/answered-updates.js';
import type { CarriedInbox } from '../shared/event-inbox.js';
import type { StopMemory } from '../stop/request-stop.js';

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

/** The status of a prompt. Its text is in the input, or in `addedPrompts`: so it is handed on once. */
export type JobPrompt = Mutable<Omit<PromptResult, 'prompt' | 'promptRef'>>;

/** A command whose outcome the job may not know yet. */
export interface CommandUnderWay {
  /** 1 at first; grows by one with each resend. */
  readonly generation: number;
  readonly markerName: string;
  /** When it was first begun, in ms since the epoch; absent if an earlier version began it. */
  readonly beganAtMs?: number;
  /** Stops of the sandbox that existed before the command was sent. */
  readonly stopIds: readonly (string | null)[];
  /** True if the command may have been sent. The job then only checks its marker. */
  readonly recover: boolean;
  /** Why it is unknown whether the command ran; null otherwise. */
  readonly unknown: JobError | null;
}

/** Steps that the newest generation of the sandbox can reach. */
export type Milestone = 'made' | 'usable' | 'prompted' | 'answered' | 'ending' | 'ended';

/** `run-job.ts` and `job-state.ts`. */
interface Course {
  startedAtMs: number;
  /** Null for an item until its fork exists: waits before the fork do not count towards the deadline. */
  deadlineAtMs: number | null;
  reachedAtMs: { [milestone in Milestone]?: number };
  phase: JobPhase;
  /** When the phase began, in ms since the epoch. */
  sinceMs: number;
  phases: EnteredPhase[];
  wakes: Wake[];
  wakeCount: number;
  /** Sandboxes, prompts and commands that a person must look after; see `leave`. */
  left: LeftBehind[];
  /** `was-reset.ts`, which says what it means: ask that. */
  wasReset: boolean;
  inbox: CarriedInbox;
  /** `handlers.ts`. */
  answered: AnsweredUpdate[];
}

/** `sandbox/create-sandbox.ts`. */
interface Creation {
  /** Generation of the latest create or fork. */
  generation: number;
  generationBeganMs: number;
  /** When a create or fork that may have been accepted was first sent, in ms since the epoch; null before that. */
  firstSentAtMs: number | null;
  /** Number of decisions to create another sandbox because it was unknown whether the previous one exists. */
  resends: number;
  /** True if an earlier run created the sandbox. */
  isFound: boolean;
  /** Name of a sandbox that may or may not have been created. */
  unconfirmedName: string | null;
  /** What the refused create or fork starts from, while the job leases it; null otherwise. */
  heldSource: { readonly sandboxId: string; readonly untilMs: number } | null;
  /** Sandboxes that were created, but could not be found for longer than a read may lag. */
  lost: SandboxView[];
}

/** `sandbox/`, `renew-auto-stop.ts`. */
interface SandboxFacts {
  /** The latest read. */
  sandbox: SandboxView | null;
  /** The newest observation of the sandbox as alive but not fully reachable; null if there was none. */
  degraded: DegradedSandbox | null;
  /** Why the auto-stop of the sandbox is not renewed; null if it is. */
  autoStop: UnrenewedAutoStop | null;
  /** True once the sandbox was usable. */
  isObtained: boolean;
  isHydrated: boolean;
  setup: { status: string; error: string | null } | null;
  /** Number of files written. */
  filesPut: number;
  /** Id of the sandbox's last stop before this job adopted or resumed it; null if there was none. */
  previousStopId: string | null;
  /**
   * When the job last requested a resume that may have been accepted. For a while after this time, reads may still show
   * the stopped sandbox.
   */
  resumedAtMs: number | null;
  /** True if events arrive through the watch, because the sandbox's name is not this job's. */
  watched: boolean;
  /** True while the job waits until a stop has ended: its lease then holds back no escalation of that stop. */
  waitsForStop: boolean;
  /** True once another job has leased the sandbox. This job must then claim the sandbox before it stops it. */
  isShared: boolean;
}

/** `run-commands.ts`, `checks/`, `prompts/`. */
interface Work {
  /** `checks/`. The rounds of checks that have ended; absent before the first one. */
  rounds?: CheckRound[];
  /** `end/last-commands.ts`. How the commands that follow proven work ran; absent before them. */
  after?: CheckRun[];
  /** How the checks of the round under way that have ended ran; absent or null between the rounds. */
  checking?: CheckRun[] | null;
  /** Number of commands that have succeeded; the job continues with the next one. */
  commandsDone: number;
  /** The running command; null before and after. */
  command: CommandUnderWay | null;
  prompts: JobPrompt[];
  /** Prompts that were added to those of the input. */
  addedPrompts: PromptStep[];
}

/** `end/`. */
interface Collection {
  /** Digests, before the first prompt, of the files to collect; null for a file that did not exist. */
  fingerprints: Readonly<Record<string, string | null>>;
  files: CollectedFile[];
  /** Where the changes of the repository begin; null until it is known whether there is one. */
  diffBase: DiffBase | null;
  /** The patch of the repository; null before it is collected. */
  diff: CollectedFile | null;
  /**
   * The stop of the sandbox. Already set while the job waits for it, so that a later run of the chain does not request
   * it again.
   */
  stop: StopResult | null;
  /** Requests to stop that may have been accepted. */
  stopRequest: StopMemory;
}

export interface CarriedJob extends Course, Creation, SandboxFacts, Work, Collection {}

/** What a job begins with. */
export function newJob(input: JobInput, nowMs: number): CarriedJob {
  return {
    startedAtMs: nowMs,
    deadlineAtMs: input.origin ? null : nowMs + input.deadlineMs,
    reachedAtMs: {},
    phase: 'creating',
    sinceMs: nowMs,
    phases: [],
    wakes: [],
    wakeCount: 0,
    left: [],
    wasReset: false,
    inbox: { recorded: [], position: 0 },
    answered: [],
    generation: 1,
    generationBeganMs: nowMs,
    firstSentAtMs: null,
    resends: 0,
    isFound: false,
    unconfirmedName: null,
    heldSource: null,
    lost: [],
    sandbox: null,
    degraded: null,
    autoStop: null,
    isObtained: false,
    isHydrated: false,
    setup: null,
    filesPut: 0,
    previousStopId: null,
    resumedAtMs: null,
    watched: false,
    waitsForStop: false,
    isShared: false,
    commandsDone: 0,
    command: null,
    prompts: input.prompts.map(unsentPrompt),
    addedPrompts: [],
    fingerprints: {},
    files: [],
    diffBase: null,
    diff: null,
    stop: null,
    stopRequest: { asked: null },
  };
}

export function unsentPrompt(): JobPrompt {
  return {
    promptId: null,
    conversationId: null,
    status: 'not_sent',
    result: null,
    resultRef: null,
    error: null,
    queuedAt: null,
    startedAt: null,
    endedAt: null,
  };
}

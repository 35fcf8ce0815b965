/** Says what holds a running job, for every command that shows one. Pure. */
import type { JobPhase } from '../../protocol/job/job-phases.js';
import type { AwaitedStop, JobProgress } from '../../protocol/job/job-progress.js';
import { programName } from '../program-name.js';
import { pasteable } from './pasteable.js';
import { oneLine } from './terminal-safe.js';

/** What tells what holds a job. */
export type HeldJob = Pick<
  JobProgress,
  'jobId' | 'phase' | 'sandboxId' | 'awaitedStop' | 'cutShort' | 'cleanUpEndsAt' | 'times' | 'blocked'
> &
  Pick<JobProgress, 'rounds' | 'maxRounds'>;

/** A call that is repeated, as Temporal shows it. */
export interface HeldCall {
  /** Time of the next attempt, ISO 8601; null while an attempt runs. */
  readonly nextAt: string | null;
  /** Error of the last attempt; null if none has failed yet. */
  readonly lastError: string | null;
}

const phaseTexts: Readonly<Record<JobPhase, { readonly doing: string; readonly words: string }>> = {
  creating: { doing: 'creating the sandbox', words: 'forking' },
  resuming: { doing: 'resuming the sandbox', words: 'resuming' },
  waiting_for_sandbox: { doing: 'waiting for the sandbox', words: 'starting' },
  waiting_for_setup: { doing: 'waiting for the setup script', words: 'setting up' },
  putting_files: { doing: 'putting files', words: 'putting files' },
  running_commands: { doing: 'running commands', words: 'running commands' },
  prompting: { doing: 'sending the prompt', words: 'prompting' },
  checking: { doing: 'running the checks', words: 'checking' },
  following: { doing: 'the agent is working', words: 'agent works' },
  collecting_files: { doing: 'collecting files', words: 'collecting files' },
  interrupting: { doing: 'interrupting the agent', words: 'interrupting' },
  stopping: { doing: 'stopping the sandbox', words: 'stopping' },
  waiting_for_archive: { doing: 'waiting until the sandbox is archived', words: 'archiving' },
  deleting: { doing: 'deleting the sandbox', words: 'deleting' },
  ended: { doing: 'ended', words: 'ended' },
};

/** A job that is cut short lets these calls finish, because their effect must be known. */
const finishing: Partial<Readonly<Record<JobPhase, string>>> = {
  creating: 'waiting for the answer to the create of its sandbox',
  prompting: 'waiting until it is known whether the prompt was sent',
};

/** The phase in words, whatever holds the job. */
export function phaseName(phase: JobPhase): string {
  return phaseTexts[phase]?.doing ?? oneLine(phase);
}

const cuts = { cancelled: 'cancelling', deadline_exceeded: 'past its deadline' } as const;

/** @param calls those of the job that are repeated. Default: they are not known */
export function jobHold(job: HeldJob, calls: readonly HeldCall[] = []) {
  const stop = failingStop(job);
  return {
    /** What the job does or waits for, without the time that it takes. */
    doing: doingOf(job),
    /** The same in one to three words, with the round, for the table of the items of a batch. */
    words: wordsOf(job, stop),
    /** Why that does not end: what is refused, or has failed and is repeated. Empty if nothing has. */
    why: job.blocked?.message ?? (stop === null ? callProblem(job, calls) : stopText(stop)),
    /** The commands that make sense now. */
    next: nextOf(job, stop),
  };
}

function doingOf(job: HeldJob): string {
  const { phase, cutShort, cleanUpEndsAt } = job;
  const plain = phaseName(phase);
  const doing = phase === 'waiting_for_archive' && !isEnding(job) ? `${plain}, to resume it` : plain;
  if (cutShort == null || phase === 'ended') return doing;
  // Other steps have only a part of this time.
  const until = phase === 'creating' && cleanUpEndsAt != null ? `, until ${cleanUpEndsAt} at the latest` : '';
  return oneLine(`${cuts[cutShort]}: ${finishing[phase] ?? doing}${until}`);
}

function wordsOf(job: HeldJob, stop: AwaitedStop | null): string {
  const { phase, cutShort, blocked } = job;
  if (blocked) return 'blocked';
  if (stop !== null) return 'stop fails';
  const plain = phaseTexts[phase]?.words ?? phase;
  return cutShort != null && finishing[phase] !== undefined ? cuts[cutShort] : `${plain}${roundOf(job)}`;
}

/** Empty outside of the rounds, and for a job that has only one. */
function roundOf({ phase, times, rounds = [], maxRounds = 1 }: HeldJob): string {
  if (!['prompting', 'following', 'checking'].includes(phase) || maxRounds < 2 || times.promptedAt === null) return '';
  return ` ${(rounds.at(-1)?.round ?? 0) + 1}/${maxRounds}`;
}

/** A stop that has failed at least once, and that the service tries again. */
function failingStop({ awaitedStop }: HeldJob): AwaitedStop | null {
  return awaitedStop != null && (awaitedStop.status === 'failing' || awaitedStop.error !== null) ? awaitedStop : null;
}

/** The stop whose end a job waits for; undefined if there is nothing to say about it. */
export function awaitedStopText(job: HeldJob): string | undefined {
  const { awaitedStop } = job;
  if (awaitedStop == null || (isEnding(job) && failingStop(job) === null)) return undefined;
  return stopText(awaitedStop);
}

/** What a person cannot guess from the phase, for output that says each thing once; undefined if there is nothing. */
export function holdNotice(job: HeldJob): string | undefined {
  if (job.cutShort != null && finishing[job.phase] !== undefined) return doingOf(job);
  const stop = failingStop(job);
  return stop === null ? undefined : stopText(stop);
}

function stopText({ stopId, status, error }: AwaitedStop): string {
  return oneLine(`its stop ${stopId} is ${status}${error === null ? '' : `, and is tried again: ${error}`}`);
}

/**
 * The last failure of a call. While an agent works, an attempt to follow it that runs is no problem, whatever became of
 * the one before.
 */
function callProblem({ phase, cutShort }: HeldJob, calls: readonly HeldCall[]): string {
  const failed = calls.filter(
    ({ lastError, nextAt }) => lastError !== null && (phase !== 'following' || nextAt !== null),
  );
  return failed[0]?.lastError ?? (cutShort == null ? '' : (finishing[phase] ?? ''));
}

/** True once the job ends its sandbox: it has then no work that a cancel could end. */
function isEnding({ times }: Pick<HeldJob, 'times'>): boolean {
  return times.endingAt !== null;
}

function nextOf(job: HeldJob, stop: AwaitedStop | null): string[] {
  const { jobId, phase, cutShort, sandboxId } = job;
  const mayCancel = cutShort === 'cancelled' ? skipsByCancel.has(phase) : !isEnding(job) && cutShort == null;
  return [
    `${programName} jobs logs ${jobId} -f`,
    `${programName} jobs watch ${jobId}`,
    ...(stop !== null && sandboxId !== null ? [`${programName} stops explain ${pasteable(sandboxId, 'SANDBOX')}`] : []),
    ...(mayCancel ? [`${programName} jobs cancel ${jobId}`] : []),
  ];
}

/** In these phases a second cancel changes something: it leaves files out. */
const skipsByCancel: ReadonlySet<string> = new Set(['interrupting', 'collecting_files'] satisfies JobPhase[]);

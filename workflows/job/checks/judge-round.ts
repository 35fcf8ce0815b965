/** Judges the rounds of checks: what they prove, what follows, and what the agent is told. Pure. */
import type { JobInput } from '../../../src/protocol/job/job-input.js';
import type { CheckRound, CheckRun } from '../../../src/protocol/job/job-result.js';
import type { CarriedJob } from '../carried-job.js';

const defaultPrompt = `The check \`{{command}}\` failed (exit code: {{exitCode}}). The end of its output:

{{output}}

Make it pass.`;

/** Exit codes of a shell that cannot run a command or does not find it. */
const notStarted: ReadonlySet<number | null> = new Set([126, 127]);

export function hasFailed({ exitCode }: Pick<CheckRun, 'exitCode'>): boolean {
  return exitCode !== 0;
}

/** The check that the shell could not start; undefined if there is none. */
export function notStartedOf({ runs }: Pick<CheckRound, 'runs'>): CheckRun | undefined {
  return runs.find(({ exitCode }) => notStarted.has(exitCode));
}

/** What follows from the newest round. */
export type Verdict = 'passed' | 'next_round' | 'failed' | 'repeated';

/** @param most number of rounds that the job may have */
export function verdictOf(rounds: readonly CheckRound[], most: number): Verdict {
  const last = rounds.at(-1);
  if (last === undefined || last.passed) return 'passed';
  if (last.round >= most) return 'failed';
  const before = rounds.at(-2);
  // Of the round before the first prompt, the agent was told nothing.
  return before !== undefined && before.round > 0 && isSameFailure(before, last) ? 'repeated' : 'next_round';
}

/** True once the newest round is the last one. */
export function hasVerdict({ rounds = [] }: Pick<CarriedJob, 'rounds'>): boolean {
  const last = rounds.at(-1);
  return last !== undefined && last.round > 0 && last.promptIndex === null;
}

/** True while no prompt can follow: the checks of a round run, or were the last ones, or what follows them runs. */
export function isPastPrompts(
  carried: Pick<CarriedJob, 'rounds' | 'checking' | 'after'>,
  { checkBefore = true }: Pick<JobInput, 'checkBefore'>,
): boolean {
  const isBeforePrompts = checkBefore && carried.rounds === undefined;
  return carried.after !== undefined || hasVerdict(carried) || (carried.checking != null && !isBeforePrompts);
}

/** True if the same checks failed in the same way, but for times, paths of machines, numbers, ids and whitespace. */
export function isSameFailure(one: Pick<CheckRound, 'runs'>, other: Pick<CheckRound, 'runs'>): boolean {
  return (
    one.runs.length === other.runs.length &&
    one.runs.every((run, index) => {
      const again = other.runs[index];
      if (again === undefined || run.exitCode !== again.exitCode) return false;
      return !hasFailed(run) || isSameOutput(run.output, again.output);
    })
  );
}

/** Of two outputs that were cut, the lines that both still have count. */
function isSameOutput(one: string, other: string): boolean {
  const [lines, others] = [comparableLines(one), comparableLines(other)];
  if (!isCut(one) || !isCut(other)) return lines.join('\n') === others.join('\n');
  const from = (all: readonly string[]) => all.slice(-Math.min(lines.length, others.length)).join('\n');
  return from(lines) === from(others);
}

const isCut = (output: string) => output.startsWith('…');

/** What differs between two runs of the same failing command, in the order in which it is replaced. */
const volatile: readonly (readonly [RegExp, string])[] = [
  [/\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/gi, '#'],
  // Names of temporary files are random.
  [/\/tmp\/[^\s\\/"'`():,]+/g, '/#'],
  // Of an absolute path, only the name is kept: another file is another failure.
  [/(^|[\s"'`(=[:])(?:~|[A-Za-z]:)?(?:[\\/][^\s\\/"'`():,]+)*[\\/](?=[^\s\\/])/g, '$1'],
  [/\b0x[0-9a-f]+\b/gi, '#'],
  [/\b(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,}\b/gi, '#'],
  [/\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun|Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec|AM|PM)\b/g, '#'],
  [/\d+(?:[.,:]\d+)*(?:\s*(?:ns|[µu]s|ms|secs?|seconds?|s|mins?|minutes?|m|hours?|h)(?![a-z]))?/gi, '#'],
  [/#+/g, '#'],
  [/\s+/g, ' '],
];

function comparableLines(output: string): string[] {
  const lines = output.split('\n');
  // The first line of a cut output lacks its beginning.
  const whole = isCut(output) && lines.length > 1 ? lines.slice(1) : lines;
  return whole.map(comparable).filter((line) => line !== '');
}

function comparable(line: string): string {
  return volatile.reduce((text, [what, by]) => text.replace(what, by), line).trim();
}

/**
 * What the agent is told of the failed checks of a round.
 * @param template for each of them. Default: a text that asks to make it pass
 */
export function promptOf({ runs }: Pick<CheckRound, 'runs'>, template = defaultPrompt): string {
  return runs
    .filter(hasFailed)
    .map(({ command, exitCode, output }) => {
      const values: Readonly<Record<string, string>> = {
        command,
        exitCode: exitCode === null ? 'none' : String(exitCode),
        output: output === '' ? '(none)' : output,
      };
      return template.replace(/\{\{([^{}]*)\}\}/g, (whole, name: string) => values[name.trim()] ?? whole);
    })
    .join('\n\n');
}

/** Runs a command of a job, and tells how it ended. */
import type { CheckRun } from '../../../src/protocol/job/job-result.js';
import { headOf, type Text } from '../../../src/protocol/stored-text.js';
import { endOf } from '../../../src/texts/length.js';
import { lastDrawn } from '../../../src/texts/terminal-text.js';
import type { JobState } from '../job-state.js';
import { runToItsEnd, shortened, tailLength } from '../run-commands.js';

/** The most of the outputs of one command that is kept, in bytes. */
const longestOutputBytes = 4_000;

export interface ToldOptions {
  /** Shown where summaries hold no text. */
  readonly step: string;
  /** How much of its outputs is kept, in bytes. */
  readonly outputBytes: number;
  /** Time limit, in seconds. Default: an hour, or the deadline of the job. */
  readonly timeoutSeconds?: number;
  /** True if an earlier run may have run it, which a person then decides. */
  readonly mayHaveRun: boolean;
  /** The exit code of a command of which a person says only that it ran. Default: null. */
  readonly ifSent?: number;
}

/** @throws JobTermination as `runToItsEnd` */
export async function runTold(
  job: JobState,
  sandboxId: string,
  command: Text,
  { step, outputBytes, timeoutSeconds, mayHaveRun, ifSent }: ToldOptions,
): Promise<CheckRun> {
  const { beganAtMs = Date.now() } = job.carried.command ?? {};
  const what = { command, summary: shortened(command), step, timeoutSeconds, mayHaveRun };
  const ended = await runToItsEnd(job, sandboxId, what);
  const told = { command: headOf(command, 500), durationMs: Date.now() - beganAtMs };
  if (ended === 'sent') return { ...told, exitCode: ifSent ?? null, output: '' };
  const output = [ended.stdout, ended.stderr].map(plainText).filter((text) => text !== '');
  const bytes = Math.min(longestOutputBytes, outputBytes);
  return { ...told, exitCode: ended.exitCode, output: endOf(output.join('\n'), bytes) };
}

export function failureText({ command, exitCode }: CheckRun, what = 'check'): string {
  const how = exitCode === null ? 'did not exit by itself' : `exited with ${exitCode}`;
  return `The ${what} "${headOf(command)}" ${how}`;
}

/** All but tabs and line ends. */
const controlRanges = '\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f';
const controls = new RegExp(`[${controlRanges}]`, 'g');

/** As a terminal shows it in the end, without other control characters. */
function plainText(text: string): string {
  const plain = lastDrawn(text).replace(controls, '').trim();
  if (text.length < tailLength) return plain;
  // The beginning of the first line is lacking.
  const lineEnd = plain.indexOf('\n');
  return `…${lineEnd < 0 ? plain : plain.slice(lineEnd)}`;
}

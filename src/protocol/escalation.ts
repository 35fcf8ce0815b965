/**
 * Escalations: what to do, and when, about a stop that goes on failing. Pure. No dependencies: workflow code imports
 * this file.
 */

import { SandflowError } from '../errors/sandflow-error.js';
import { durationText, readDurationMs } from '../texts/duration.js';
import { maxEscalationSteps } from './limits.js';

/** What a step of an escalation can do. */
export const escalationActions = ['resume-and-stop', 'notify', 'delete'] as const;
/**
 * - `resume-and-stop`: resumes the sandbox, which ends the failing stop, and stops it again at once.
 * - `notify`: logs a warning, counts it, and notifies.
 * - `delete`: deletes the sandbox and its snapshots.
 */
export type EscalationAction = (typeof escalationActions)[number];

/** One step of an escalation. */
export interface EscalationStep {
  /** When the step is due, in ms after the service accepted the stop. */
  readonly afterMs: number;
  /** What the step does. */
  readonly action: EscalationAction;
}

/** What to do about a stop that goes on failing. `parseEscalation` reads it from a text. */
export interface Escalation {
  /** In the order of their times, no two at the same time. */
  readonly steps: readonly EscalationStep[];
  /** True if the escalation may delete the sandbox. Without it, a step `delete` is refused. Default: false. */
  readonly mayDelete?: boolean;
}

/** Two years: no data is kept for longer. */
const longestMs = 732 * 86_400_000;

/** Options of `parseEscalation`. */
export interface ParseEscalationOptions {
  /** True if the escalation may delete the sandbox. Default: false, and a step `delete` is refused. */
  readonly mayDelete?: boolean;
  /** What the reader must give to permit a deletion, for the error. Default: `mayDelete: true`. */
  readonly deleteFlag?: string;
}

/**
 * Reads an escalation: steps separated by commas, each with its time after the acceptance of the stop.
 * @throws SandflowError `bad_escalation`, naming the step that is wrong and how to mend it
 * @example
 * const escalate = parseEscalation('30m: resume-and-stop, 2h: notify, 6h: delete', { mayDelete: true });
 */
export function parseEscalation(text: string, options: ParseEscalationOptions = {}): Escalation {
  const steps = text.split(',').map((part, index) => stepOf(part.trim(), index));
  const escalation = {
    steps: [...steps].sort((a, b) => a.afterMs - b.afterMs),
    ...(options.mayDelete === true && { mayDelete: true }),
  };
  const problem = escalationProblem(escalation, options);
  if (problem !== undefined) throw badEscalation(problem);
  return escalation;
}

function stepOf(part: string, index: number): EscalationStep {
  const name = `step ${index + 1}, "${part.slice(0, 80)}"`;
  const [time = '', action = '', more] = part.split(':').map((word) => word.trim());
  if (action === '' || more !== undefined) throw badEscalation(`${name}: write a time and an action, like 30m: notify`);
  const afterMs = readDurationMs(time);
  if (afterMs === undefined) {
    throw badEscalation(`${name}: "${time.slice(0, 40)}" is not a duration; use a value like 90s, 30m, 2h or 1h30m`);
  }
  const known = escalationActions.find((one) => one === action);
  if (known === undefined) {
    throw badEscalation(`${name}: unknown action "${action.slice(0, 40)}"; use ${escalationActions.join(', ')}`);
  }
  return { afterMs, action: known };
}

/** Why an escalation cannot be carried out, naming the step; undefined if it can. */
export function escalationProblem(
  { steps, mayDelete = false }: Escalation,
  { deleteFlag = 'mayDelete: true' }: Pick<ParseEscalationOptions, 'deleteFlag'> = {},
): string | undefined {
  if (steps.length === 0) return 'it has no steps; write steps like 30m: notify';
  if (steps.length > maxEscalationSteps)
    return `it has ${steps.length} steps, but at most ${maxEscalationSteps} are allowed`;
  for (const [index, step] of steps.entries()) {
    const name = `step "${stepText(step)}"`;
    if (!(step.afterMs >= 1_000)) return `${name}: it must be due after at least 1s`;
    if (step.afterMs > longestMs) return `${name}: it must be due within ${durationText(longestMs)}`;
    if (step.action === 'delete' && !mayDelete) {
      return `${name}: it deletes the sandbox and all its data; permit that with ${deleteFlag}, or remove the step`;
    }
    const before = steps[index - 1];
    if (before && before.afterMs > step.afterMs) return `${name}: the steps must be in the order of their times`;
    if (before?.afterMs === step.afterMs) return `${name}: another step has the same time; give each its own`;
  }
  return undefined;
}

function badEscalation(why: string): SandflowError {
  return new SandflowError('bad_escalation', `The escalation cannot be used: ${why}.`);
}

/** `30m: notify`. */
export function stepText({ afterMs, action }: EscalationStep): string {
  return `${durationText(afterMs)}: ${action}`;
}

/** The text that `parseEscalation` reads. */
export function escalationText({ steps }: Escalation): string {
  return steps.map(stepText).join(', ');
}

/** When the last step is due, in ms after the acceptance of the stop. */
export function lastStepMs({ steps }: Escalation): number {
  return Math.max(...steps.map(({ afterMs }) => afterMs));
}

/** Time that a request gives its last step, in ms. */
export const timeForLastStepMs = 1_800_000;

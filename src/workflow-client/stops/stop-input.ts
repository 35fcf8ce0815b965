/** Validates a request to stop a sandbox before anything starts. */
import { z } from 'zod';
import { sandboxIdSchema } from '../../contract/records/sandbox-records.js';
import { SandflowError } from '../../errors/sandflow-error.js';
import { type Escalation, lastStepMs, timeForLastStepMs } from '../../protocol/escalation.js';
import type { StopRequest } from '../../protocol/stop.js';
import { durationText } from '../../texts/duration.js';
import { parseWith } from '../parse-with.js';
import { escalationSchema } from '../settings/escalation-schema.js';
import { notifyTargetSchema } from '../settings/notify-target.js';
import { jobTimingSchema, longMsSchema as ms } from '../settings/setting-schemas.js';

export const stopOptionsSchema = z.strictObject({
  sandboxId: sandboxIdSchema,
  requestId: z.string().min(1).max(200).optional(),
  deadlineMs: ms.optional(),
  alertAfterMs: ms.nullable().default(null),
  escalate: escalationSchema.optional(),
  notify: notifyTargetSchema.optional(),
  timing: jobTimingSchema.optional(),
  maxHistoryEvents: z.number().int().positive().optional(),
  maxMessages: z.number().int().positive().optional(),
});

/** Options of `requestStop` for one sandbox. */
export interface StopOptions {
  /** Id of the sandbox. */
  readonly sandboxId: string;
  /**
   * Id of the request. A repeat with the same id returns the first request and keeps its settings. Default: a new id.
   */
  readonly requestId?: string;
  /**
   * When to stop waiting, in ms from now; at most two years. Default: 30 minutes or, with `escalate`, 30 minutes after
   * its last step.
   */
  readonly deadlineMs?: number;
  /** When to send an alert if the stop has not ended, in ms from now. Default: null, never. */
  readonly alertAfterMs?: number | null;
  /** What to do if the stop goes on failing; `parseEscalation` reads it from a text. Default: nothing. */
  readonly escalate?: Escalation;
  /** Receives the alert, the steps of the escalation, the refusals of the service, and the end of the request. Default: none. */
  readonly notify?: StopRequest['notify'];
  /**
   * How often the service is polled while no events come. Applies only if this request starts the sandbox's workflow.
   */
  readonly timing?: z.infer<typeof jobTimingSchema>;
  /**
   * Maximum number of events in the history of a run; the workflow then continues as a new run. Default: when Temporal
   * suggests it. Applies as `timing` does.
   */
  readonly maxHistoryEvents?: number;
  /**
   * Number of requests, or of events, after which the workflow continues as a new run. Default: 1,000 and 5,000.
   * Applies as `timing` does.
   */
  readonly maxMessages?: number;
}

/** @throws SandflowError `bad_stop_request` */
export function parseStopOptions(options: StopOptions): ParsedStop {
  const refuse = (why: string) => new SandflowError('bad_stop_request', `The sandbox cannot be stopped: ${why}.`);
  const parsed = parseWith(stopOptionsSchema, options, refuse);
  const deadlineMs = parsed.deadlineMs ?? stopDeadlineMs(parsed.escalate);
  const problem = parsed.escalate && deadlineProblem(parsed.escalate, deadlineMs);
  if (problem !== undefined) throw refuse(`deadlineMs ${problem}`);
  return { ...parsed, deadlineMs };
}

type ParsedStop = z.output<typeof stopOptionsSchema> & { readonly deadlineMs: number };

const defaultDeadlineMs = 1_800_000;

/** The default deadline of a request, in ms. */
export function stopDeadlineMs(escalate: Escalation | undefined): number {
  return escalate === undefined ? defaultDeadlineMs : lastStepMs(escalate) + timeForLastStepMs;
}

/** Why a deadline is too early for an escalation; undefined if it is not. */
export function deadlineProblem(escalate: Escalation, deadlineMs: number): string | undefined {
  if (deadlineMs > lastStepMs(escalate)) return undefined;
  return `must be later than the last step of the escalation (${durationText(lastStepMs(escalate))}), or the step is never reached`;
}

/** Validates a request to stop a sandbox before anything starts. */
import { z } from 'zod';
import { sandboxIdSchema } from '../../contract/records/sandbox-records.js';
import { SandflowError } from '../../contract/workflow-safe/sandflow-error.js';
import type { StopRequest } from '../../protocol/stop.js';
import { jobTimingSchema, longMs as ms, notifyTargetSchema } from '../jobs/job-input.js';
import { parseWith } from '../parse-with.js';

export const stopOptionsSchema = z.strictObject({
  sandboxId: sandboxIdSchema,
  requestId: z.string().min(1).max(200).optional(),
  deadlineMs: ms.default(1_800_000),
  alertAfterMs: ms.nullable().default(null),
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
  /** When to stop waiting, in ms from now; at most two years. Default: 30 minutes. */
  readonly deadlineMs?: number;
  /** When to send an alert if the stop has not ended, in ms from now. Default: null, never. */
  readonly alertAfterMs?: number | null;
  /** Receives the alert, the refusals of the service, and the end of the request. Default: none. */
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
export function parseStopOptions(options: StopOptions): z.output<typeof stopOptionsSchema> {
  const refuse = (why: string) => new SandflowError('bad_stop_request', `The sandbox cannot be stopped: ${why}.`);
  return parseWith(stopOptionsSchema, options, refuse);
}

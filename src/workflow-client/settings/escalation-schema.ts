/** Validates an escalation where it enters: in a stop, a job or a batch. */
import { z } from 'zod';
import { type Escalation, escalationActions, escalationProblem } from '../../protocol/escalation.js';
import type { JobEscalation } from '../../protocol/job/job-input.js';
import { notifyTargetSchema } from './notify-target.js';

const step = z.strictObject({ afterMs: z.number().int(), action: z.enum(escalationActions) });

const fields = { steps: z.array(step), mayDelete: z.boolean().optional() };

function refuseNonsense(escalation: Escalation, context: z.RefinementCtx): void {
  const message = escalationProblem(escalation);
  if (message !== undefined) context.addIssue({ code: 'custom', message });
}

export const escalationSchema = z.strictObject(fields).superRefine(refuseNonsense) satisfies z.ZodType<Escalation>;

/** The same with whom it notifies. */
export const jobEscalationSchema = z
  .strictObject({ ...fields, notify: notifyTargetSchema.optional() })
  .superRefine(refuseNonsense) satisfies z.ZodType<JobEscalation>;

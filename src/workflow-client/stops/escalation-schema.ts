/** Validates an escalation where it enters: in a stop, a job or a batch. */
import { z } from 'zod';
import { type Escalation, escalationActions, escalationProblem } from '../../contract/workflow-safe/escalation.js';

const step = z.strictObject({ afterMs: z.number().int(), action: z.enum(escalationActions) });

export const escalationSchema = z
  .strictObject({ steps: z.array(step), mayDelete: z.boolean().optional() })
  .superRefine((escalation, context) => {
    const message = escalationProblem(escalation);
    if (message !== undefined) context.addIssue({ code: 'custom', message });
  }) satisfies z.ZodType<Escalation>;

/** The options `--escalate` and `--escalate-may-delete` of `stop`, `run` and `fanout`. Pure. */

import { SandflowError } from '../../errors/sandflow-error.js';
import { type Escalation, parseEscalation } from '../../protocol/escalation.js';
import { UsageError } from '../usage-error.js';

export interface EscalationOptions {
  readonly escalate?: string | undefined;
  readonly escalateMayDelete?: boolean | undefined;
}

/** @returns undefined if there is no escalation @throws UsageError naming the step that is wrong */
export function escalationOf({ escalate, escalateMayDelete }: EscalationOptions): Escalation | undefined {
  if (escalate === undefined) {
    if (escalateMayDelete) throw new UsageError('--escalate-may-delete requires --escalate.');
    return undefined;
  }
  try {
    return parseEscalation(escalate, { mayDelete: escalateMayDelete === true, deleteFlag: '--escalate-may-delete' });
  } catch (error) {
    if (error instanceof SandflowError) throw new UsageError(`--escalate: ${error.message}`);
    throw error;
  }
}

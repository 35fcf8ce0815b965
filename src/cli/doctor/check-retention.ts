/** How long Temporal keeps closed workflows: cleanups cannot see those that it has removed. */
import type { Client } from '@temporalio/client';
import { type Check, ok, skipped, warning } from './check.js';

const enoughDays = 14;
const daySeconds = 86_400;

/** @param retention the retention period in the namespace's configuration */
export function judgeRetention(retention: { readonly seconds?: unknown } | null | undefined): Check {
  const days = Number(retention?.seconds ?? Number.NaN) / daySeconds;
  if (Number.isNaN(days)) return skipped('retention', 'Temporal does not report how long it keeps closed workflows.');
  const kept = `Temporal keeps closed workflows for ${Math.round(days * 10) / 10} days`;
  if (days >= enoughDays) return ok('retention', `${kept}.`);
  return warning(
    'retention',
    `${kept}; cleanups treat sandboxes of older jobs as \`unknown\`: they report them and never change them.`,
    `Set the retention to ${enoughDays} days or more: temporal operator namespace update --retention ${enoughDays * 24}h -n NAMESPACE`,
  );
}

export async function checkRetention(temporal: Client): Promise<Check> {
  const { namespace } = temporal.options;
  const { config } = await temporal.workflowService.describeNamespace({ namespace });
  return judgeRetention(config?.workflowExecutionRetentionTtl);
}

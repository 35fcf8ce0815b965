/** How long Temporal keeps closed workflows: what sandflow promises about ended jobs holds for that time. */
import type { Client } from '@temporalio/client';
import { isPermissionDenied } from '../../temporal/errors.js';
import { type Check, ok, skipped, warning } from './check.js';

const enoughDays = 14;
const daySeconds = 86_400;

/** @param retention the retention period in the namespace's configuration */
export function judgeRetention(
  retention: { readonly seconds?: unknown } | null | undefined,
  { namespace }: { readonly namespace: string },
): Check {
  const days = Number(retention?.seconds ?? Number.NaN) / daySeconds;
  if (Number.isNaN(days)) return skipped('retention', 'Temporal does not report how long it keeps closed workflows.');
  const kept = `Temporal keeps closed workflows for ${Math.round(days * 10) / 10} ${days === 1 ? 'day' : 'days'}`;
  if (days >= enoughDays) return ok('retention', `${kept}.`);
  return warning(
    'retention',
    `${kept}. After that, an id may start a second job, and leftovers of ended jobs have the owner \`unknown\`, which no cleanup touches.`,
    `Keep them for ${enoughDays} days or more: temporal operator namespace update --retention 30d -n ${namespace}; in Temporal Cloud: tcld namespace retention set --retention-days 30 -n ${namespace}`,
  );
}

/** A user without the right to describe the namespace may still run jobs in it. */
export async function checkRetention(temporal: Client): Promise<Check> {
  const { namespace } = temporal.options;
  try {
    const { config } = await temporal.workflowService.describeNamespace({ namespace });
    return judgeRetention(config?.workflowExecutionRetentionTtl, { namespace });
  } catch (error) {
    if (!isPermissionDenied(error)) throw error;
    const message = `This user may not describe the namespace ${namespace}, so it is not known how long Temporal keeps closed workflows. It should be ${enoughDays} days or more.`;
    return skipped('retention', message);
  }
}

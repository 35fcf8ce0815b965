/**
 * Checks the namespace of Temporal, the workers there, and how long it keeps closed workflows: what sandflow promises
 * about ended jobs holds for that time.
 */
import type { Client } from '@temporalio/client';
import type { Config } from '../../config.js';
import { isPermissionDenied, restartStack } from '../../temporal/errors.js';
import { requireApis } from '../../temporal/require-apis.js';
import { queuesWithoutWorker } from '../../temporal/task-queue-pollers.js';
import { requireSearchAttributes } from '../../workflow-client/search-attributes.js';
import { failureOf } from '../errors.js';
import { programName } from '../program-name.js';
import { type Check, failed, ok, skipped, warning } from './check.js';

const enoughDays = 14;
const daySeconds = 86_400;

export async function checkTemporal(
  temporal: Client,
  config: Pick<Config, 'temporal' | 'taskQueue' | 'searchAttributes'>,
): Promise<Check[]> {
  const { namespace } = temporal.options;
  const where = config.temporal.configured ? config.temporal.connect.connectionOptions.address : 'the embedded server';
  try {
    const retention = await checkNamespace(temporal);
    await requireApis(temporal);
    if (config.searchAttributes) await requireSearchAttributes(temporal);
    const connected = ok('temporal', `Connected to the namespace ${namespace} at ${where}.`);
    return [connected, await checkWorkers(temporal, config), retention];
  } catch (error) {
    const { code, message: why } = failureOf(error).error;
    if (code === 'temporal_api_missing')
      return [failed('temporal', `At ${where}: ${why}`, 'Jobs cannot run there until then.')];
    const mend = config.temporal.configured
      ? 'Check TEMPORAL_NAMESPACE, and that the API key has access to it.'
      : restartStack;
    const message = `The namespace ${namespace} at ${where} cannot be used: ${why}`;
    return [failed('temporal', message, mend)];
  }
}

async function checkWorkers(client: Client, config: Pick<Config, 'taskQueue'>): Promise<Check> {
  try {
    const missing = await queuesWithoutWorker(client, config.taskQueue);
    if (missing.length === 0) return ok('workers', `Workers poll ${config.taskQueue}.`);
    const mend = `Start one with \`${programName} worker\`, with the same SANDFLOW_TASK_QUEUE, namespace and address. Those with SANDFLOW_BUILD_ID take new work after \`${programName} upgrade switch\`.`;
    return failed('workers', `No worker polls ${missing.join(', ')}.`, mend);
  } catch (error) {
    if (!isPermissionDenied(error)) throw error;
    return skipped('workers', 'This user may not see which workers poll the task queues.');
  }
}

/**
 * A user without the right to describe the namespace may still run jobs in it.
 * @throws the error of Temporal if there is no such namespace, or if the user may do nothing in it
 */
async function checkNamespace(temporal: Client): Promise<Check> {
  const { namespace } = temporal.options;
  try {
    const { config } = await temporal.workflowService.describeNamespace({ namespace });
    return judgeRetention(config?.workflowExecutionRetentionTtl, { namespace });
  } catch (error) {
    if (!isPermissionDenied(error)) throw error;
    await temporal.workflowService.countWorkflowExecutions({ namespace, query: '' });
    const message = `This user may not describe the namespace ${namespace}, so it is not known how long Temporal keeps closed workflows. It should be ${enoughDays} days or more.`;
    return skipped('retention', message);
  }
}

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

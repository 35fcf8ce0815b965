/** Checks the namespace of Temporal, the workers there and its retention. */
import type { Client } from '@temporalio/client';
import type { Config } from '../../config.js';
import { isPermissionDenied, restartStack } from '../../temporal/errors.js';
import { failureOf } from '../errors.js';
import { type Check, failed, ok, skipped } from './check.js';
import { checkRetention } from './check-retention.js';
import { checkWorkers } from './check-workers.js';

export async function checkTemporal(
  temporal: Client,
  config: Pick<Config, 'temporal' | 'taskQueue'>,
): Promise<Check[]> {
  const { namespace } = temporal.options;
  const where = config.temporal.configured ? config.temporal.connect.connectionOptions.address : 'the embedded server';
  try {
    await requireNamespace(temporal);
  } catch (error) {
    const mend = config.temporal.configured
      ? 'Check TEMPORAL_NAMESPACE, and that the API key has access to it.'
      : restartStack;
    const message = `The namespace ${namespace} at ${where} cannot be used: ${failureOf(error).error.message}`;
    return [failed('temporal', message, mend)];
  }
  return [
    ok('temporal', `Connected to the namespace ${namespace} at ${where}.`),
    await checkWorkers(temporal, config).catch((error: unknown) => {
      if (!isPermissionDenied(error)) throw error;
      return skipped('workers', 'This user may not see which workers poll the task queues.');
    }),
    await checkRetention(temporal),
  ];
}

/** @throws the error of Temporal if there is no such namespace, or if the user may do nothing in it */
async function requireNamespace(temporal: Client): Promise<void> {
  const { namespace } = temporal.options;
  try {
    await temporal.workflowService.describeNamespace({ namespace });
  } catch (error) {
    if (!isPermissionDenied(error)) throw error;
    await temporal.workflowService.countWorkflowExecutions({ namespace, query: '' });
  }
}

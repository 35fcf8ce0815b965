/** The progress of a job as its users read it: a query that comes between an event and its workflow task is asked again. */
import type { WorkflowHandle } from '@temporalio/client';
import { progressQuery } from '../../src/protocol/messages.js';
import { firstQueryTimeoutMs, withAnswerTimeout } from '../../src/temporal/calls.js';
import { queryOnce } from '../../src/temporal/query-once.js';

export const progressOf = (handle: Pick<WorkflowHandle, 'workflowId' | 'query' | 'client'>) =>
  withAnswerTimeout(handle.client, () => queryOnce(handle, progressQuery), firstQueryTimeoutMs);

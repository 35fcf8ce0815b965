/**
 * Finds the stop or the deletion in answers whose fields the specification does not show. Each plausible field is read.
 */
import { UnexpectedResponseError } from '../../src/client/index.js';
import type { ResponseOf } from '../../src/contract/endpoints/endpoints.js';
import {
  type DeletionOperation,
  deletionOperationSchema,
  stopOperationSchema,
} from '../../src/contract/records/sandbox-records.js';
import { idPatterns } from '../../src/contract/workflow-safe/ids.js';
import type { StopView } from '../../src/contract/workflow-safe/sandbox-view.js';
import { stopView } from '../sandbox-view.js';

/** The stop in the answer to a stop request; null if there is none. Reads of the sandbox then show the stop. */
export function stopOfAnswer({ id, stop, ...others }: ResponseOf<'stopSandbox'>): StopView | null {
  if (stop) return stopView(stop);
  const nested = [others.operation, others.stopOperation, fieldOf(others.sandbox, 'stop')];
  for (const shown of nested) {
    const { data } = stopOperationSchema.safeParse(shown);
    if (data && isStopId(data.id)) return stopView(data);
  }
  // An id of another form may be that of the sandbox.
  const named = [others.stopId, id, ...nested.map((shown) => fieldOf(shown, 'id'))].find(isStopId);
  return named === undefined ? null : { id: named, status: 'pending', requestedAt: null, error: null };
}

/** The id of the operation in the answer to a deletion; null if there is none, or if nothing was left to delete. */
export function deletionOfAnswer(answer: ResponseOf<'deleteSandbox'> | null): string | null {
  return answer?.operationId ?? answer?.operation?.id ?? null;
}

/**
 * The deletion in the answer to a read by its id: in a field of its own, or in the answer itself.
 * @throws UnexpectedResponseError if the answer shows no status
 */
export function deletionShown(operationId: string, answer: ResponseOf<'getDeletionOperation'>): DeletionOperation {
  const { operation, ok: _, type: __, ...shown } = answer;
  const { data } = deletionOperationSchema.safeParse({ ...shown, ...operation, id: operationId });
  if (!data) throw new UnexpectedResponseError('getDeletionOperation', 200, 'operation.status', 'is missing');
  return data;
}

function isStopId(value: unknown): value is string {
  return typeof value === 'string' && idPatterns.stop.test(value);
}

const fieldOf = (value: unknown, name: string): unknown => Object(value)[name];

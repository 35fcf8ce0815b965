import { sandboxFor } from '../../sandboxes/access.js';
import { stopSandbox } from '../../sandboxes/stop.js';
import { ServiceError } from '../../service-error.js';
import type { Operations } from '../operation.js';

export const stopOperations: Pick<Operations, 'stopSandbox' | 'getStop'> = {
  stopSandbox(context, { caller, params: { sandboxId } }) {
    sandboxFor(context, caller, sandboxId, 'view');
    const stop = stopSandbox(context, sandboxId);
    return { fields: { id: stop.id, stop } };
  },

  getStop(context, { caller, params: { sandboxId, stopId } }) {
    sandboxFor(context, caller, sandboxId, 'view');
    const stored = context.stores.stops.get(stopId);
    if (stored?.sandboxId !== sandboxId) {
      throw new ServiceError(404, 'not_found', `The sandbox ${sandboxId} has no stop ${stopId}.`);
    }
    const { id, status, requestedAt, lastAttemptAt, error, endedAt } = stored;
    return { fields: { id, stop: { id, status, requestedAt, lastAttemptAt, error, endedAt } } };
  },
};

import { isUsable } from '../../contract/states.js';
import { ServiceError } from '../service-error.js';
import type { SandboxRecord } from '../store/sandbox-record.js';

/** @throws ServiceError `machine_not_running` (specification, "Errors": wait for the machine to start) */
export function requireMachine({ state }: SandboxRecord): void {
  if (isUsable(state)) return;
  const message = `The sandbox is ${state}. Files, commands and SSH need it to be ready, idle or running.`;
  throw new ServiceError(400, 'machine_not_running', message);
}

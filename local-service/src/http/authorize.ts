/**
 * Decides whether a caller may make a request, before its input is read (specification, "Scope" and "Authentication").
 */
import type { ScopeAction } from '../../../src/contract/endpoints/endpoint.js';
import type { Endpoint, EndpointName } from '../../../src/contract/endpoints/endpoints.js';
import { type Caller, requireAccountWide, requireAction } from '../access/key-scope.js';
import { ServiceError } from '../service-error.js';

/** Actions that also allow an endpoint, besides that of its row. */
const alsoAllowedBy: Partial<Record<EndpointName, readonly ScopeAction[]>> = {
  // Only for the name of its snapshot: `requireActionsOfUpdate` checks the other fields.
  updateSandbox: ['snapshot.write'],
  // A key that may delete may also read the deletion (assumption).
  getDeletionOperation: ['sandbox.delete', 'snapshot.write'],
};

/**
 * @throws ServiceError 403 `forbidden` for a key if a session is needed; `api_key_action_forbidden`;
 *   `api_key_sandbox_forbidden` for a limited key if the call concerns the whole account
 */
export function authorize(caller: Caller, name: EndpointName, endpoint: Endpoint): void {
  if (endpoint.sessionOnly && caller.kind !== 'session') {
    throw new ServiceError(403, 'forbidden', 'This requires an interactive session. API keys are refused.');
  }
  // Specification, "API key endpoints": restricted keys get an empty list.
  if (name === 'listApiKeys') return;
  requireAction(caller, endpoint.scope, alsoAllowedBy[name]);
  if (endpoint.scope.startsWith('account.')) requireAccountWide(caller);
}

/** @throws ServiceError 403 `api_key_action_forbidden` for a scoped key on an unknown route */
export function refuseUnknownRoute(caller: Caller | undefined): void {
  if (!caller?.scope) return;
  throw new ServiceError(403, 'api_key_action_forbidden', 'This API key is scoped, and no scope includes this route.');
}

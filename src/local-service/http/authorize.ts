/**
 * Decides whether a caller may make a request, before its input is read (specification, "Scope" and "Authentication").
 */
import type { Endpoint, EndpointName } from '../../contract/endpoints.js';
import { type Caller, requireAccountWide, requireAction } from '../access/key-scope.js';
import { ServiceError } from '../service-error.js';

/**
 * @throws ServiceError 403 `forbidden` for a key if a session is needed; `api_key_action_forbidden`;
 *   `api_key_sandbox_forbidden` for a limited key if the call concerns the whole account
 */
export function authorize(caller: Caller, name: EndpointName, endpoint: Endpoint): void {
  if (endpoint.sessionOnly && caller.kind !== 'session') {
    throw new ServiceError(403, 'forbidden', 'This requires an interactive session. API keys are refused.');
  }
  requireAction(caller, endpoint.scope);
  // Specification, "API key endpoints": restricted keys get an empty list.
  if (endpoint.scope.startsWith('account.') && name !== 'listApiKeys') requireAccountWide(caller);
}

/** @throws ServiceError 403 `api_key_action_forbidden` for a scoped key on an unknown route */
export function refuseUnknownRoute(caller: Caller | undefined): void {
  if (!caller?.scope) return;
  throw new ServiceError(403, 'api_key_action_forbidden', 'This API key is scoped, and no scope includes this route.');
}

/** The links of the OpenAPI document: from answers that hold an id to the operations that need it. */
import type { oas31 } from 'zod-openapi';
import type { Endpoint } from '../../../../src/contract/endpoints/endpoint.js';
import { type EndpointName, endpoints } from '../../../../src/contract/endpoints/endpoints.js';

/** For each answer with an id: the path parameter that needs the id, and the pointer to the id in the answer. */
const ids: Partial<Record<EndpointName, readonly [parameter: string, pointer: string]>> = {
  createSandbox: ['sandboxId', '/sandbox/id'],
  forkSandbox: ['sandboxId', '/sandbox/id'],
  stopSandbox: ['stopId', '/stop/id'],
  sendPrompt: ['promptId', '/promptId'],
  getLatestSnapshot: ['snapshotId', '/snapshot/id'],
  deleteSandbox: ['operationId', '/operationId'],
  deleteSnapshot: ['operationId', '/operationId'],
  createWebhook: ['webhookId', '/webhook/id'],
  createApiKey: ['apiKeyId', '/apiKey/id'],
  updateEnvironment: ['environmentId', '/environment/id'],
};

/** The links from the success answer of this endpoint; empty if the answer holds no id. */
export function linksOf(name: EndpointName): Record<string, oas31.LinkObject> {
  const [parameter, pointer] = ids[name] ?? [];
  if (parameter === undefined) return {};
  const known = [parameter, ...parametersOf(endpoints[name].path)];
  const takers = (Object.entries(endpoints) as [EndpointName, Endpoint][]).filter(([, { path }]) => {
    const taken = parametersOf(path);
    return taken.includes(parameter) && taken.every((one) => known.includes(one));
  });
  return Object.fromEntries(
    takers.map(([taker, { path, confirmDelete }]) => {
      const parameters: Record<string, string> = {};
      for (const taken of parametersOf(path)) {
        parameters[`path.${taken}`] = taken === parameter ? `$response.body#${pointer}` : `$request.path.${taken}`;
      }
      if (confirmDelete) parameters['header.x-svc-confirm-delete'] = `$response.body#${pointer}`;
      return [taker, { operationId: taker, parameters }];
    }),
  );
}

function parametersOf(path: string): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
}

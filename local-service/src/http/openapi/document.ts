/** Builds the OpenAPI document of the service from the endpoint table. */
import { createDocument, type oas31, type ZodOpenApiPathsObject } from 'zod-openapi';
import type { Endpoint } from '../../../../src/contract/endpoints/endpoint.js';
import { type EndpointName, endpoints } from '../../../../src/contract/endpoints/endpoints.js';
import { errorResponseComponents, errorSchema } from './errors.js';
import { operationOf } from './operation.js';

const description = `Creates, prompts, observes, forks, stops, resumes and deletes sandboxes: isolated remote machines.

Written from version 1 of the service's specification. What the specification does not show is assumed by sandflow and
marked in the description of each operation and as \`x-assumed\`. Enums in responses may get new values: a client must
accept values that it does not know.`;

/** The OpenAPI 3.1 document. Every call returns the same content. */
export function openApiDocument(): oas31.OpenAPIObject {
  const paths: ZodOpenApiPathsObject = {};
  for (const [name, endpoint] of Object.entries(endpoints) as [EndpointName, Endpoint][]) {
    const operation = { [endpoint.method.toLowerCase()]: operationOf(name, endpoint) };
    paths[endpoint.path] = { ...paths[endpoint.path], ...operation };
  }
  return createDocument({
    openapi: '3.1.0',
    info: { title: 'Sandbox Service', version: '1', description },
    servers: [{ url: '/v1' }],
    security: [{ apiKey: [] }],
    paths,
    components: {
      securitySchemes: {
        apiKey: { type: 'http', scheme: 'bearer', description: 'An API key of the service. Keep it secret' },
      },
      schemas: { Error: errorSchema },
      responses: errorResponseComponents(),
    },
  });
}

/** Builds the OpenAPI document of the service from the endpoint table. */
import type { Endpoint } from '../endpoints/endpoint.js';
import { type EndpointName, endpoints } from '../endpoints/endpoints.js';
import { errorResponseComponents, errorSchema } from './errors.js';
import { createSchemaCollector, type JsonSchema } from './json-schemas.js';
import { operationOf } from './operation.js';

const description = `Creates, prompts, observes, forks, stops, resumes and deletes sandboxes: isolated remote machines.

Written from version 1 of the service's specification. What the specification does not show is assumed by sandflow and
marked in the description of each operation and as \`x-assumed\`. Enums in responses may get new values: a client must
accept values that it does not know.`;

/** The OpenAPI 3.1 document. Every call returns the same content. */
export function openApiDocument(): JsonSchema {
  const schemas = createSchemaCollector();
  const paths: Record<string, Record<string, JsonSchema>> = {};
  for (const [name, endpoint] of Object.entries(endpoints) as [EndpointName, Endpoint][]) {
    const methods = paths[endpoint.path] ?? {};
    paths[endpoint.path] = methods;
    methods[endpoint.method.toLowerCase()] = operationOf(name, endpoint, schemas);
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Sandbox Service', version: '1', description },
    servers: [{ url: '/v1' }],
    security: [{ apiKey: [] }],
    paths,
    components: {
      securitySchemes: {
        apiKey: { type: 'http', scheme: 'bearer', description: 'An API key of the service. Keep it secret' },
      },
      schemas: {
        ...sorted(schemas.components),
        CancelledSandbox: {
          type: 'object',
          description: 'A create or fork that found no machine. It is reported once, then the answer is 404',
          required: ['id', 'state', 'error'],
          properties: {
            id: { type: 'string' },
            state: { const: 'cancelled' },
            error: { type: ['string', 'null'] },
          },
        },
        Error: errorSchema,
      },
      responses: errorResponseComponents(),
    },
  };
}

function sorted(components: Readonly<Record<string, JsonSchema>>): Record<string, JsonSchema> {
  return Object.fromEntries(Object.entries(components).sort(([a], [b]) => (a < b ? -1 : 1)));
}

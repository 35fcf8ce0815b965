/** Turns a row of the endpoint table into an operation of the OpenAPI document. */
import type { Endpoint, RetryClass } from '../endpoints/endpoint.js';
import type { EndpointName } from '../endpoints/endpoints.js';
import { confirmDeleteHeader, idempotencyKeyHeader } from '../requests/sandbox-requests.js';
import { idPatterns } from '../workflow-safe/ids.js';
import { errorResponses } from './errors.js';
import { bodyExamples, parameterExamples } from './examples.js';
import type { JsonSchema, SchemaCollector } from './json-schemas.js';
import { linksOf } from './links.js';

const retries: Readonly<Record<RetryClass, string>> = {
  safe: 'Safe to retry.',
  keyed: 'Safe to retry with the same `Idempotency-Key` and body within 24 hours. Not safe to retry without a key.',
  'read-first':
    'If the response is lost, read the state before you retry. A blind retry can undo a change that was made in the meantime.',
  evidence: 'Not safe to retry. If the response is lost, check whether the call took effect.',
  once: 'Not safe to retry.',
  secret: 'Retry until you have read a response and stored its secret. Each response replaces or adds a secret.',
};

const pathParameterPatterns: Readonly<Record<string, RegExp>> = {
  sandboxId: idPatterns.sandbox,
  stopId: idPatterns.stop,
  promptId: idPatterns.prompt,
  operationId: idPatterns.deletionOperation,
  snapshotId: idPatterns.snapshot,
  webhookId: idPatterns.webhook,
  apiKeyId: idPatterns.apiKey,
};

export function operationOf(name: EndpointName, endpoint: Endpoint, schemas: SchemaCollector): JsonSchema {
  const assumed = assumptionsOf(endpoint);
  const links = linksOf(name);
  const description = [
    `Scope action \`${endpoint.scope}\`. ${retries[endpoint.retry]}`,
    endpoint.sessionOnly ? 'Requires an interactive session. API keys are refused.' : '',
    endpoint.secret ? 'The response contains a secret. Keep it out of logs.' : '',
    assumed === '' ? '' : `Assumed, not shown by the specification: ${assumed}.`,
  ];
  return {
    operationId: name,
    summary: endpoint.summary,
    description: description.filter((line) => line !== '').join('\n\n'),
    tags: [tagOf(endpoint.path)],
    parameters: [...pathParameters(endpoint), ...queryParameters(endpoint, schemas), ...headerParameters(endpoint)],
    ...requestBodyOf(name, endpoint, schemas),
    responses: {
      [endpoint.status]: {
        description: endpoint.summary,
        content: successContent(name, endpoint, schemas),
        ...(Object.keys(links).length === 0 ? {} : { links }),
      },
      ...errorResponses(endpoint),
    },
    'x-scope-action': endpoint.scope,
    'x-retry-class': endpoint.retry,
    ...(assumed === '' ? {} : { 'x-assumed': endpoint.assumed }),
  };
}

function assumptionsOf({ assumed }: Endpoint): string {
  return assumed === undefined ? '' : [assumed].flat().join(', ');
}

/** The first segment of the path. */
function tagOf(path: string): string {
  return path.split('/')[1] ?? '';
}

function pathParameters({ path }: Endpoint): JsonSchema[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => {
    const pattern = pathParameterPatterns[name]?.source;
    return {
      name,
      in: 'path',
      required: true,
      schema: pattern === undefined ? { type: 'string', minLength: 1, format: 'uuid' } : { type: 'string', pattern },
      example: parameterExamples[name],
    };
  });
}

function queryParameters({ query }: Endpoint, schemas: SchemaCollector): JsonSchema[] {
  if (!query) return [];
  const { properties = {}, required = [] } = schemas.add(query, 'input') as {
    properties?: Record<string, JsonSchema>;
    required?: readonly string[];
  };
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    schema,
    ...(parameterExamples[name] === undefined ? {} : { example: parameterExamples[name] }),
  }));
}

function headerParameters({ idempotent, confirmDelete, path }: Endpoint): JsonSchema[] {
  const id = path.match(/\{(\w+)\}$/)?.[1] ?? '';
  return [
    ...(idempotent
      ? [
          {
            name: idempotencyKeyHeader,
            in: 'header',
            required: false,
            description: 'At most one sandbox is created per key within 24 hours',
            schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[\\x21-\\x7e]+$' },
          },
        ]
      : []),
    ...(confirmDelete
      ? [
          {
            name: confirmDeleteHeader,
            in: 'header',
            required: true,
            description: `The ${id} again, as a confirmation. A delete cannot be undone`,
            schema: { type: 'string' },
            example: parameterExamples[id],
          },
        ]
      : []),
  ];
}

function requestBodyOf(name: EndpointName, endpoint: Endpoint, schemas: SchemaCollector): JsonSchema {
  if (!endpoint.body) return {};
  const example = bodyExamples[name];
  const schema = schemas.add(endpoint.body, 'input');
  return {
    requestBody: {
      required: !endpoint.bodyOptional,
      content: { 'application/json': { schema, ...(example ? { example } : {}) } },
    },
  };
}

function successContent(name: EndpointName, endpoint: Endpoint, schemas: SchemaCollector): JsonSchema {
  if (endpoint.raw) {
    const bytes = { schema: { type: 'string', format: 'binary' } };
    return { 'application/octet-stream': bytes, 'application/gzip': bytes };
  }
  const {
    properties = {},
    required = [],
    ...rest
  } = schemas.add(endpoint.response, 'output') as {
    properties?: Record<string, JsonSchema>;
    required?: readonly string[];
  };
  const envelope =
    endpoint.type === null ? { success: { const: true } } : { ok: { const: true }, type: { const: endpoint.type } };
  // A cancelled sandbox is reported once, with only three fields (trap S5).
  const shown: Readonly<Record<string, JsonSchema>> =
    name === 'getSandbox'
      ? { ...properties, sandbox: { anyOf: [properties.sandbox, { $ref: '#/components/schemas/CancelledSandbox' }] } }
      : properties;
  return {
    'application/json': {
      schema: { ...rest, properties: { ...envelope, ...shown }, required: [...Object.keys(envelope), ...required] },
    },
  };
}

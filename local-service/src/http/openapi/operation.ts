/** Turns a row of the endpoint table into an operation of the OpenAPI document. */
import { z } from 'zod';
import type { oas31, ZodOpenApiContentObject, ZodOpenApiOperationObject } from 'zod-openapi';
import type { Endpoint, RetryClass } from '../../../../src/contract/endpoints/endpoint.js';
import type { EndpointName } from '../../../../src/contract/endpoints/endpoints.js';
import { confirmDeleteHeader, idempotencyKeyHeader } from '../../../../src/contract/requests/sandbox-requests.js';
import { idPatterns } from '../../../../src/contract/workflow-safe/ids.js';
import { errorResponses } from './errors.js';
import { bodyExamples, parameterExamples } from './examples.js';
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

export function operationOf(name: EndpointName, endpoint: Endpoint): ZodOpenApiOperationObject {
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
    ...(endpoint.query && { requestParams: { query: withExamples(endpoint.query) } }),
    parameters: [...pathParameters(endpoint), ...headerParameters(endpoint)],
    ...requestBodyOf(name, endpoint),
    responses: {
      [endpoint.status]: {
        description: endpoint.summary,
        content: successContent(name, endpoint),
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

function pathParameters({ path }: Endpoint): oas31.ParameterObject[] {
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

function withExamples({ shape }: z.ZodObject): z.ZodObject {
  const parameters = Object.entries(shape as Record<string, z.ZodType>).map(([name, schema]) => {
    const example = parameterExamples[name];
    return [name, example === undefined ? schema : schema.meta({ param: { example } })];
  });
  return z.object(Object.fromEntries(parameters));
}

function headerParameters({ idempotent, confirmDelete, path }: Endpoint): oas31.ParameterObject[] {
  const id = path.match(/\{(\w+)\}$/)?.[1] ?? '';
  return [...(idempotent ? [idempotencyKey] : []), ...(confirmDelete ? [confirmationOf(id)] : [])];
}

const idempotencyKey: oas31.ParameterObject = {
  name: idempotencyKeyHeader,
  in: 'header',
  required: false,
  description: 'At most one sandbox is created per key within 24 hours',
  schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[\\x21-\\x7e]+$' },
};

function confirmationOf(id: string): oas31.ParameterObject {
  return {
    name: confirmDeleteHeader,
    in: 'header',
    required: true,
    description: `The ${id} again, as a confirmation. A delete cannot be undone`,
    schema: { type: 'string' },
    example: parameterExamples[id],
  };
}

function requestBodyOf(name: EndpointName, { body, bodyOptional }: Endpoint) {
  if (!body) return {};
  const example = bodyExamples[name];
  return {
    requestBody: {
      required: !bodyOptional,
      content: { 'application/json': { schema: body, ...(example ? { example } : {}) } },
    },
  };
}

function successContent(name: EndpointName, { raw, type, response }: Endpoint): ZodOpenApiContentObject {
  if (raw) {
    const bytes = { schema: { type: 'string', format: 'binary' } } as const;
    return { 'application/octet-stream': bytes, 'application/gzip': bytes };
  }
  const envelope = type === null ? { success: z.literal(true) } : { ok: z.literal(true), type: z.literal(type) };
  const { sandbox } = response.shape;
  // A cancelled sandbox is reported once, with only three fields (trap S5).
  const shown = name === 'getSandbox' && sandbox ? { sandbox: z.union([sandbox, cancelledSandbox]) } : {};
  return { 'application/json': { schema: z.looseObject({ ...envelope, ...response.shape, ...shown }) } };
}

const cancelledSandbox = z
  .looseObject({ id: z.string(), state: z.literal('cancelled'), error: z.string().nullable() })
  .meta({
    id: 'CancelledSandbox',
    description: 'A create or fork that found no machine. It is reported once, then the answer is 404',
  });

/** The error answers of each endpoint (specification, "Errors"). */
import type { oas31 } from 'zod-openapi';
import type { Endpoint } from '../../../../src/contract/endpoints/endpoint.js';
import { errorCodes } from '../../../../src/contract/workflow-safe/error-codes.js';

/** Specification, "Error envelope". */
export const errorSchema: oas31.SchemaObject = {
  type: 'object',
  description: 'Every error body. The HTTP status is authoritative',
  required: ['ok', 'type', 'status', 'code', 'message', 'error', 'requestId'],
  properties: {
    ok: { const: false },
    type: { const: 'sandbox.error' },
    status: { type: 'integer', description: 'HTTP status' },
    code: { type: 'string', description: 'Error code' },
    message: { type: 'string', description: 'Human-readable description of the error' },
    error: {
      type: 'object',
      required: ['code', 'message', 'status'],
      properties: {
        code: { type: 'string' },
        message: { type: 'string' },
        status: { type: 'integer' },
        details: { type: 'object' },
      },
    },
    requestId: { type: 'string', pattern: '^req_', description: 'Include it in support requests' },
  },
};

const meanings: Readonly<Record<number, string>> = {
  400: 'The request is invalid, or the machine is not running yet',
  401: 'The bearer token is missing or invalid',
  402: 'Billing is required, or a usage cap is reached',
  403: 'The key or account lacks the permission',
  404: 'The resource does not exist',
  405: 'The path does not support this method',
  409: 'A prerequisite is missing, or the state does not allow it',
  413: 'The body or the file is too large',
  429: 'Too many requests, or a limit is reached',
  500: 'The service failed to handle the request',
  503: 'Temporarily not possible. Try again later',
};

function statusesOf(endpoint: Endpoint): readonly number[] {
  const takesInput = endpoint.body || endpoint.query || endpoint.confirmDelete || endpoint.idempotent;
  return [
    ...(takesInput || endpoint.path.includes('{sandboxId}') ? [400] : []),
    401,
    ...(endpoint.body ? [402] : []),
    403,
    ...(endpoint.path.includes('{') || endpoint.body ? [404] : []),
    ...(endpoint.method === 'GET' && !endpoint.raw ? [] : [409]),
    ...(endpoint.body || endpoint.path.endsWith('/files') ? [413] : []),
    429,
    500,
    503,
  ];
}

export function errorResponses(endpoint: Endpoint): Record<string, oas31.ReferenceObject> {
  return Object.fromEntries(
    statusesOf(endpoint).map((status) => [String(status), { $ref: `#/components/responses/${status}` }]),
  );
}

/** The components that `errorResponses` refers to. */
export function errorResponseComponents(): Record<string, oas31.ResponseObject> {
  return Object.fromEntries(
    Object.entries(meanings).map(([status, description]) => {
      const codes = Object.entries(errorCodes).filter(([, { statuses }]) =>
        (statuses as readonly number[]).includes(Number(status)),
      );
      const names = codes.map(([code]) => `\`${code}\``).join(', ');
      return [
        status,
        {
          description: names === '' ? description : `${description}: ${names}`,
          content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
        },
      ];
    }),
  );
}

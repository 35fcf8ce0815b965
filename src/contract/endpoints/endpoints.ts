/**
 * The table of endpoints, with one row for each endpoint of the service. The client's methods, the activities, the
 * routes of the local service and the OpenAPI document are derived from this table. An endpoint is added here and
 * nowhere else.
 */
import { z } from 'zod';
import { accountEndpoints } from './account.js';
import { resourceEndpoints } from './account-resources.js';
import type { Endpoint } from './endpoint.js';
import { machineEndpoints } from './machine.js';
import { sandboxEndpoints } from './sandboxes.js';
import { snapshotEndpoints } from './snapshots.js';
import { workEndpoints } from './work.js';

export type { Endpoint, RetryClass, ScopeAction } from './endpoint.js';

/** Every endpoint by name, as in the specification. Rows with `assumed` partly rest on assumptions. */
export const endpoints = {
  ...accountEndpoints,
  ...sandboxEndpoints,
  ...workEndpoints,
  ...machineEndpoints,
  ...snapshotEndpoints,
  ...resourceEndpoints,
} as const satisfies Record<string, Endpoint>;

/** The name of an endpoint, which is also the name of the client's method. */
export type EndpointName = keyof typeof endpoints;

/** Endpoints that answer a successful request with raw bytes. */
export type RawEndpointName = {
  [Name in EndpointName]: (typeof endpoints)[Name] extends { readonly raw: true } ? Name : never;
}[EndpointName];

type ParametersIn<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParametersIn<Rest>
  : never;

/** Names of the `{parameters}` in an endpoint's path. */
export type PathParameters<Name extends EndpointName> = ParametersIn<(typeof endpoints)[Name]['path']>;

/** The parsed response of an endpoint. */
export type ResponseOf<Name extends EndpointName> = z.infer<(typeof endpoints)[Name]['response']>;

/** The path of an endpoint with its parameters filled in and escaped. */
export function pathOf<Name extends EndpointName>(
  name: Name,
  parameters: Readonly<Record<PathParameters<Name>, string>>,
): string {
  const values = parameters as Readonly<Record<string, string>>;
  return endpoints[name].path.replace(/\{(\w+)\}/g, (_, key: string) => encodeURIComponent(values[key] ?? ''));
}

/** The shape of every error body of the service (specification, "Errors"). Read liberally: what only `error` says counts too. */
export const errorEnvelopeSchema = z.preprocess(
  withOuterFields,
  z.looseObject({
    ok: z.literal(false),
    status: z.number().optional(),
    code: z.string(),
    message: z.string().nullish(),
    error: z.looseObject({ details: z.looseObject({}).nullish() }).nullish(),
    requestId: z.string().nullish(),
  }),
);

/**
 * The specification repeats `code` and `message` in `error`, and a service may give them only there. Many a gateway says
 * `success` instead of `ok`, and then only an id of the service shows that the answer is its own.
 */
function withOuterFields(body: unknown): unknown {
  if (typeof body !== 'object' || body === null) return body;
  const { ok, success, code, message, error, requestId } = body as Readonly<Record<string, unknown>>;
  const inner = (typeof error === 'object' ? error : {}) as Readonly<Record<string, unknown>> | null;
  const isOwn = typeof requestId === 'string' && requestId.startsWith('req_');
  const said = ok ?? (isOwn ? success : undefined);
  return { ...body, ok: said, code: code ?? inner?.code, message: message ?? inner?.message };
}

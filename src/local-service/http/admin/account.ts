/** `/_local/environments` and `/_local/repos`: what the service itself shows no way to make. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Caller } from '../../accounts/caller.js';
import { createAccountSetup, newEnvironmentSchema } from '../../accounts/setup.js';
import type { Context } from '../../core/context.js';
import { removeEnvironment } from '../../environments/environments.js';
import { localReposBodySchema } from '../../environments/repos.js';
import { ServiceError } from '../../service-error.js';
import { callOf } from '../call.js';

/** The account that is given something; the caller's own where it is left out. */
const accountId = z.string().optional();
const environmentBodySchema = newEnvironmentSchema.extend({ accountId });
const reposBodySchema = localReposBodySchema.extend({ accountId });

export function registerAccountSetupRoutes(server: FastifyInstance, context: Context): void {
  const setup = createAccountSetup(context);

  server.post('/_local/environments', (request, reply) => {
    const { accountId = callerOf(request).accountId, ...given } = read(environmentBodySchema, request.body);
    const environment = setup.createEnvironment(given, accountId);
    reply.code(201).send({ ok: true, type: 'local.environment', environment });
  });
  server.delete<{ Params: { environmentId: string } }>('/_local/environments/:environmentId', (request) => {
    const { environmentId } = request.params;
    removeEnvironment(context, environmentId);
    return { ok: true, type: 'local.environment.deleted', id: environmentId };
  });
  server.put('/_local/repos', (request) => {
    const { accountId = callerOf(request).accountId, repos } = read(reposBodySchema, request.body);
    return { ok: true, type: 'local.repos', repos: setup.setRepos(repos, accountId) };
  });
}

/** Requests are authenticated before they come to a route. */
function callerOf(request: FastifyRequest): Caller {
  const { caller } = callOf(request);
  if (caller) return caller;
  throw new ServiceError(401, 'unauthorized', 'The bearer token is missing or not valid.');
}

function read<Schema extends z.ZodType>(schema: Schema, body: unknown): z.output<Schema> {
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new ServiceError(400, 'invalid_request', `${issue?.path.join('.') || 'body'}: ${issue?.message}`);
}

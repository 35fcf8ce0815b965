/** Routes for what the API of the service cannot create: accounts, teams, sessions, environments and repositories. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Caller } from '../../access/key-scope.js';
import { createAccounts } from '../../accounts/accounts.js';
import { accountFlagsSchema, newAccountSchema, newTeamSchema, teamFlagsSchema } from '../../accounts/records.js';
import { createAccountSetup, newEnvironmentSchema } from '../../accounts/setup.js';
import type { Context } from '../../core/context.js';
import { removeEnvironment } from '../../environments/environments.js';
import { localReposBodySchema } from '../../environments/repos.js';
import { ServiceError } from '../../service-error.js';
import { callOf } from '../call.js';
import { read } from '../parse-input.js';

const switchSchema = z.strictObject({ enabled: z.boolean() });
/** Default: the account of the caller. */
const accountId = z.string().optional();
const environmentBodySchema = newEnvironmentSchema.extend({ accountId });
const reposBodySchema = localReposBodySchema.extend({ accountId });

export function registerAccountRoutes(server: FastifyInstance, context: Context): void {
  const accounts = createAccounts(context);
  const setup = createAccountSetup(context);
  const answer = (type: string, fields: object) => ({ ok: true, type, ...fields });

  server.get('/_local/accounts', () =>
    answer('local.accounts', { accounts: accounts.list(), teams: accounts.teams() }),
  );
  server.post('/_local/accounts', (request, reply) => {
    reply.code(201).send(answer('local.account', accounts.create(read(newAccountSchema, request.body))));
  });
  server.patch<{ Params: { accountId: string } }>('/_local/accounts/:accountId', (request) => {
    const account = accounts.update(request.params.accountId, read(accountFlagsSchema, request.body));
    return answer('local.account', { account });
  });
  server.post<{ Params: { accountId: string } }>('/_local/accounts/:accountId/sessions', (request, reply) => {
    const token = accounts.createSession(request.params.accountId);
    reply.code(201).send(answer('local.session', { token }));
  });
  server.post('/_local/teams', (request, reply) => {
    reply.code(201).send(answer('local.team', { team: accounts.createTeam(read(newTeamSchema, request.body)) }));
  });
  server.patch<{ Params: { teamId: string } }>('/_local/teams/:teamId', (request) => {
    const team = accounts.updateTeam(request.params.teamId, read(teamFlagsSchema, request.body));
    return answer('local.team', { team });
  });
  server.put('/_local/scoped-key-creation', (request) => {
    const { enabled } = read(switchSchema, request.body);
    accounts.setScopedKeyCreation(enabled);
    return answer('local.scoped_key_creation', { enabled });
  });
  server.post('/_local/environments', (request, reply) => {
    const { accountId = callerOf(request).accountId, ...given } = read(environmentBodySchema, request.body);
    const environment = setup.createEnvironment(given, accountId);
    reply.code(201).send(answer('local.environment', { environment }));
  });
  server.delete<{ Params: { environmentId: string } }>('/_local/environments/:environmentId', (request) => {
    const { environmentId } = request.params;
    removeEnvironment(context, environmentId);
    return answer('local.environment.deleted', { id: environmentId });
  });
  server.put('/_local/repos', (request) => {
    const { accountId = callerOf(request).accountId, repos } = read(reposBodySchema, request.body);
    return answer('local.repos', { repos: setup.setRepos(repos, accountId) });
  });
}

/** The caller of a request. Requests are authenticated before they reach a route. */
function callerOf(request: FastifyRequest): Caller {
  const { caller } = callOf(request);
  if (caller) return caller;
  throw new ServiceError(401, 'unauthorized', 'The bearer token is missing or invalid.');
}

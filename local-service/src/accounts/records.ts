/** Creates and changes accounts and organizations of the local service. Not part of the specification. */
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { nameSchema } from '../../../src/contract/requests/sandbox-requests.js';
import type { Core } from '../core/context.js';
import { notFound, ServiceError } from '../service-error.js';
import type { AccountRecord, TeamRecord } from '../store/account-store.js';
import { hashOf, issue } from './credentials.js';

type Keeping = Pick<Core, 'stores' | 'clock' | 'database'>;

const loginSchema = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$/,
    'must start with a letter or digit, followed by letters, digits, "_", "." and "-"',
  );

const accountFlagsSchema = z.strictObject({
  /** Default: true. With `false`, calls that start a machine answer 409 `account_not_ready`. */
  ready: z.boolean().optional(),
  /** Default: false. With `true`, auto-stop is required, and only small and default machines are allowed. */
  trial: z.boolean().optional(),
  /** Default: false. With `true`, calls that start a machine answer 402 `billing_required`. */
  billingRequired: z.boolean().optional(),
  /**
   * Monthly cap on billable machine-seconds in the organization. Once it is reached, calls that start a machine answer
   * 402 `team_member_cap_reached`. Default null: no cap.
   */
  memberCapSeconds: z.number().nonnegative().nullable().optional(),
});
/** What an account may do. */
export type AccountFlags = z.infer<typeof accountFlagsSchema>;

export const newAccountSchema = accountFlagsSchema.extend({
  /** Unique. */
  login: loginSchema,
  /** Default `<login>@sandbox.invalid`. */
  email: z.email().optional(),
  /** Its unscoped key: account-wide and without expiry. Default: a new key. */
  apiKey: z.string().min(16).max(200).optional(),
});
/** An account to create. */
export type NewAccount = z.infer<typeof newAccountSchema>;

const teamFlagsSchema = z.strictObject({
  /** Default: false. With `true`, new sandboxes of its members begin as private. */
  newSandboxesPrivate: z.boolean().optional(),
  /** Default: false. With `true`, calls that start a machine answer 403 `org_suspended`. */
  suspended: z.boolean().optional(),
});
/** What the members of an organization may do. */
export type TeamFlags = z.infer<typeof teamFlagsSchema>;

export const newTeamSchema = teamFlagsSchema.extend({
  /** Display name. */
  name: nameSchema,
  /** Logins of the members. An account leaves the organization that it was in before. */
  members: z.array(loginSchema).readonly(),
});
/** An organization to create. */
export type NewTeam = z.infer<typeof newTeamSchema>;

const newId = (kind: 'acct' | 'team'): string => `${kind}_${randomBytes(8).toString('hex')}`;

/** @throws ServiceError 404 */
export function accountOf({ stores }: Pick<Core, 'stores'>, accountId: string): AccountRecord {
  const account = stores.accounts.accounts.get(accountId);
  if (!account) throw notFound(`The account ${accountId} does not exist.`);
  return account;
}

/**
 * Creates an account with an unscoped key. Not safe to repeat.
 * @throws ServiceError 409 `login_taken`, `api_key_taken`
 */
export function addAccount(
  context: Keeping,
  wanted: NewAccount,
  id = newId('acct'),
): { readonly account: AccountRecord; readonly apiKey: string } {
  const { login, email = `${login}@sandbox.invalid`, apiKey } = wanted;
  return context.database.transaction(() => {
    if (context.stores.accounts.byLogin(login)) {
      throw new ServiceError(
        409,
        'login_taken',
        `An account with the login "${login}" already exists. Choose another login.`,
      );
    }
    const account: AccountRecord = {
      id,
      login,
      email,
      teamId: null,
      createdAt: context.clock.iso(),
      zeroDataRetentionEnabledAt: null,
      ready: wanted.ready ?? true,
      trial: wanted.trial ?? false,
      billingRequired: wanted.billingRequired ?? false,
      memberCapSeconds: wanted.memberCapSeconds ?? null,
    };
    context.stores.accounts.accounts.put(account);
    return { account, apiKey: addOldKey(context, id, apiKey) };
  });
}

/**
 * Creates an unscoped key: account-wide and without expiry.
 * @returns its secret
 * @throws ServiceError 409 `api_key_taken`
 */
export function addOldKey(context: Keeping, accountId: string, secret?: string): string {
  if (secret !== undefined && context.stores.credentials.byHash(hashOf(secret))) {
    throw new ServiceError(409, 'api_key_taken', 'Another account already has this API key. Choose another key.');
  }
  const wanted = {
    accountId,
    kind: 'api_key',
    name: 'Account key',
    scope: null,
    preset: null,
    expiresAt: null,
  } as const;
  return issue(context, wanted, secret).secret;
}

/** Creates the token of a browser or command-line session of an account. */
export function addSession(context: Keeping, accountId: string): string {
  accountOf(context, accountId);
  const wanted = { accountId, kind: 'session', name: 'Session', scope: null, preset: null, expiresAt: null } as const;
  return issue(context, wanted).secret;
}

/** Safe to repeat. @throws ServiceError 404 */
export function changeAccount(context: Keeping, accountId: string, flags: AccountFlags): AccountRecord {
  const account = accountOf(context, accountId);
  const changed: AccountRecord = {
    ...account,
    ready: flags.ready ?? account.ready,
    trial: flags.trial ?? account.trial,
    billingRequired: flags.billingRequired ?? account.billingRequired,
    memberCapSeconds: flags.memberCapSeconds === undefined ? account.memberCapSeconds : flags.memberCapSeconds,
  };
  context.stores.accounts.accounts.put(changed);
  return changed;
}

/**
 * Creates an organization. Not safe to repeat: each call creates another.
 * @throws ServiceError 404 for a login that nobody has
 */
export function addTeam(context: Keeping, { name, members, newSandboxesPrivate, suspended }: NewTeam): TeamRecord {
  return context.database.transaction(() => {
    const team: TeamRecord = {
      id: newId('team'),
      name,
      createdAt: context.clock.iso(),
      newSandboxesPrivate: newSandboxesPrivate ?? false,
      suspended: suspended ?? false,
    };
    context.stores.accounts.teams.put(team);
    for (const login of members) {
      const account = context.stores.accounts.byLogin(login);
      if (!account) throw notFound(`An account with the login "${login}" does not exist.`);
      context.stores.accounts.accounts.put({ ...account, teamId: team.id });
    }
    return team;
  });
}

/** Safe to repeat. @throws ServiceError 404 */
export function changeTeam({ stores }: Keeping, teamId: string, flags: TeamFlags): TeamRecord {
  const team = stores.accounts.teams.get(teamId);
  if (!team) throw notFound(`The organization ${teamId} does not exist.`);
  const changed: TeamRecord = {
    ...team,
    newSandboxesPrivate: flags.newSandboxesPrivate ?? team.newSandboxesPrivate,
    suspended: flags.suspended ?? team.suspended,
  };
  stores.accounts.teams.put(changed);
  return changed;
}

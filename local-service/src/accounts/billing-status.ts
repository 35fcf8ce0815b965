/** Whether an account, or its organization, may start machines (specification, "Errors": 400, 402, 403 and 409). */

import { assume } from '../core/assume.js';
import type { Context } from '../core/context.js';
import { costOf } from '../core/cost.js';
import { ServiceError } from '../service-error.js';
import type { TeamRecord } from '../store/account-store.js';
import type { SandboxRecord, SandboxType } from '../store/sandbox-record.js';
import { accountOf } from './records.js';

const billingUrl = 'https://sandbox.invalid/settings/billing';
/** The sizes that need no payment method (assumption). */
const trialTypes: readonly SandboxType[] = ['small', 'default'];

interface WantedMachine {
  readonly type: SandboxType;
  /** Null disables auto-stop. */
  readonly ttlSeconds: number | null;
}

/** Checks the account before a create. @throws ServiceError as `requireGoodStanding` */
export function requireStandingToCreate(context: Context, accountId: string, wanted: WantedMachine): void {
  const team = context.stores.accounts.teamOf(accountId);
  requireGoodStanding(context, { accountId, team }, wanted);
}

/**
 * Checks, before a resume, the team of the sandbox, or its owner if it has no team.
 * @throws ServiceError as `requireGoodStanding`
 */
export function requireStandingToStart(context: Context, sandbox: SandboxRecord, wanted: WantedMachine): void {
  const team = sandbox.teamId === null ? undefined : context.stores.accounts.teams.get(sandbox.teamId);
  requireGoodStanding(context, { accountId: sandbox.ownerId, team }, wanted);
}

/**
 * Assumptions: only an account that is itself billed can be in a trial, so members of an organization never are.
 * Auto-stop counts as missing if no `ttlSeconds` is given.
 * @throws ServiceError `account_not_ready`, `org_suspended`, `team_member_cap_reached`, `billing_required`,
 *   `trial_machine_class_not_allowed`, `trial_auto_stop_required`
 */
function requireGoodStanding(
  context: Context,
  { accountId, team }: { readonly accountId: string; readonly team: TeamRecord | undefined },
  wanted: WantedMachine,
): void {
  const account = accountOf(context, accountId);
  const mayLack = !account.ready || account.billingRequired || account.trial || team?.suspended;
  if (mayLack && !assume('A-standing')) return;
  if (!account.ready) {
    throw new ServiceError(409, 'account_not_ready', 'The account is still being set up. Try again shortly.');
  }
  if (team) {
    requireTeamStanding(context, { accountId, team, capSeconds: account.memberCapSeconds });
    return;
  }
  if (account.billingRequired) {
    assume('A-refusal-urls');
    const message = 'The account needs a payment method.';
    throw new ServiceError(402, 'billing_required', message, { details: { billingUrl } });
  }
  if (account.trial) requireTrialTerms(wanted);
}

function requireTeamStanding(
  context: Context,
  options: { readonly accountId: string; readonly team: TeamRecord; readonly capSeconds: number | null },
): void {
  const { accountId, team, capSeconds } = options;
  if (team.suspended) {
    const message = `The organization "${team.name}" is suspended. Ask its owner to settle the outstanding balance.`;
    throw new ServiceError(403, 'org_suspended', message);
  }
  if (capSeconds === null) return;
  const now = context.clock.now();
  let used = 0;
  for (const sandbox of context.stores.sandboxes.all({})) {
    if (sandbox.ownerId === accountId && sandbox.teamId === team.id) used += costOf(sandbox, now).seconds;
  }
  if (used < capSeconds) return;
  const message = `Your usage cap of ${capSeconds} s per month is reached. Ask the owner of the organization to raise it.`;
  throw new ServiceError(402, 'team_member_cap_reached', message, { details: { capSeconds, usedSeconds: used } });
}

function requireTrialTerms({ type, ttlSeconds }: WantedMachine): void {
  if (!trialTypes.includes(type)) {
    const message = `The machine type ${type} requires a payment method. A trial can use the types ${trialTypes.join(' and ')}.`;
    throw new ServiceError(403, 'trial_machine_class_not_allowed', message);
  }
  if (ttlSeconds !== null) return;
  throw new ServiceError(400, 'trial_auto_stop_required', 'A trial requires auto-stop. Set ttlSeconds.');
}

/** Auto-stop cannot be switched off in a trial. @throws ServiceError `trial_auto_stop_required` */
export function requireAutoStopOfTrial({ stores }: Context, sandbox: SandboxRecord, ttlSeconds: number | null): void {
  const account = stores.accounts.accounts.get(sandbox.ownerId);
  if (!account?.trial || sandbox.teamId !== null || ttlSeconds !== null) return;
  throw new ServiceError(400, 'trial_auto_stop_required', 'A trial requires auto-stop. Set ttlSeconds to a number.');
}

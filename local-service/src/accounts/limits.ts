/** Limits the number of sandboxes: the 429 answers of create and fork (specification, "Errors"; trap S14). */
import type { Limits } from '../../../src/contract/records/account-records.js';
import type { Caller } from '../access/key-scope.js';
import type { Context } from '../core/context.js';
import { ServiceError } from '../service-error.js';
import type { SandboxRecord } from '../store/sandbox-record.js';

/** Specification, "Limits". */
export const maxWebhooks = 10;

/** The account or organization that is billed. An account is billed itself if it belongs to no organization. */
interface Payer {
  readonly accountId: string;
  readonly teamId: string | null;
}

const isBilled = ({ teamId, accountId }: Payer, sandbox: SandboxRecord): boolean =>
  teamId === null ? sandbox.teamId === null && sandbox.ownerId === accountId : sandbox.teamId === teamId;

function payerOf({ stores }: Context, accountId: string): Payer {
  return { accountId, teamId: stores.accounts.teamOf(accountId)?.id ?? null };
}

function active({ stores }: Context, counts: (sandbox: SandboxRecord) => boolean): number {
  let count = 0;
  for (const sandbox of stores.sandboxes.living()) if (sandbox.state !== 'archived' && counts(sandbox)) count++;
  return count;
}

function createdToday({ stores, clock }: Context, payer: Payer): number {
  return stores.sandboxes.countCreatedSince(`${clock.iso().slice(0, 10)}T00:00:00.000Z`, payer);
}

/**
 * Refuses a new sandbox if the settings allow no further one. Assumption: the daily limit and the limit of active
 * sandboxes apply to the organization or account that is billed.
 * @throws ServiceError `daily_limit_reached`, `limit_reached`, `member_limit_reached`
 */
export function refuseOverLimit(context: Context, { accountId }: Caller): void {
  const { sandboxesPerDay, activeSandboxes, activeSandboxesPerMember } = context.limits;
  const payer = payerOf(context, accountId);
  if (sandboxesPerDay !== undefined && createdToday(context, payer) >= sandboxesPerDay) {
    const message = `The limit of ${sandboxesPerDay} sandboxes per day is reached. It resets at midnight UTC.`;
    throw new ServiceError(429, 'daily_limit_reached', message);
  }
  const ofMember = (sandbox: SandboxRecord): boolean => isBilled(payer, sandbox) && sandbox.ownerId === accountId;
  if (
    activeSandboxesPerMember !== undefined &&
    payer.teamId !== null &&
    active(context, ofMember) >= activeSandboxesPerMember
  ) {
    const message = `Your limit of ${activeSandboxesPerMember} active sandboxes in this organization is reached. Stop or delete one first.`;
    throw new ServiceError(429, 'member_limit_reached', message);
  }
  if (activeSandboxes !== undefined && active(context, (sandbox) => isBilled(payer, sandbox)) >= activeSandboxes) {
    const message = `The limit of ${activeSandboxes} active sandboxes is reached. Stop or delete one first.`;
    throw new ServiceError(429, 'limit_reached', message);
  }
}

/** What `GET /limits` shows. A maximum of null means no limit. */
export function limitsOf(context: Context, accountId: string): Limits {
  const { sandboxesPerDay, activeSandboxes, requestsPerMinute } = context.limits;
  const payer = payerOf(context, accountId);
  return {
    sandboxes: { used: active(context, (sandbox) => isBilled(payer, sandbox)), max: activeSandboxes ?? null },
    webhooks: { used: context.stores.webhooks.of(accountId).length, max: maxWebhooks },
    requestsPerMinute: requestsPerMinute ?? null,
    dailySandboxes: { used: createdToday(context, payer), max: sandboxesPerDay ?? null },
  };
}

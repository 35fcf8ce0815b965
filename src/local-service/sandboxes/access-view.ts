/** What a sandbox says about who may use it (specification, "Sandbox" and "Access rules"); differs from viewer to viewer. */

import type { Core } from '../core/context.js';
import type { SandboxRecord } from '../store/sandbox-record.js';
import { type Access, holdsLogins, visibilityOf } from './access.js';

/** Assumption: the display name of the creator is its login. */
export function accessView(
  context: Pick<Core, 'stores'>,
  sandbox: SandboxRecord,
  access: Access,
): Readonly<Record<string, unknown>> {
  const { accounts, teams } = context.stores.accounts;
  const { ownerId, teamId, wipePendingUntilRestart } = sandbox;
  const team = teamId === null ? undefined : teams.get(teamId);
  return {
    team: team ? { id: team.id, name: team.name } : null,
    createdBy: accounts.get(ownerId)?.login ?? null,
    createdById: ownerId,
    access,
    holdsCreatorLogins: holdsLogins(context, sandbox),
    visibility: visibilityOf(context, sandbox),
    wipePendingUntilRestart,
  };
}

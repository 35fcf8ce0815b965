/** An environment as the service shows it (specification, "Environment"). */

import type { Context } from '../core/context.js';
import type { EnvironmentRecord } from '../store/environment-store.js';
import { emptyContent } from './content.js';

/**
 * The view holds the text of secret files and variables: never log it. `sandboxCount` counts existing sandboxes,
 * archived ones included. Assumption: versions come oldest first.
 */
export function environmentView(
  { stores }: Context,
  { id, name, isDefault }: EnvironmentRecord,
): Readonly<Record<string, unknown>> {
  const latest = stores.environments.latest(id);
  const counts = new Map<string, number>();
  for (const { environmentVersionId: pinned } of stores.sandboxes.living()) {
    if (pinned !== null) counts.set(pinned, (counts.get(pinned) ?? 0) + 1);
  }
  return {
    id,
    name,
    isDefault,
    latestVersionId: latest?.id ?? null,
    ...(latest?.content ?? emptyContent),
    versions: stores.environments.versions(id).map((version) => ({
      id: version.id,
      versionNumber: version.versionNumber,
      sandboxCount: counts.get(version.id) ?? 0,
      createdAt: version.createdAt,
    })),
  };
}

import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The workflows as the build bundled them, or undefined where this runs from sources that were not built. */
export function workflowBundlePath(): string | undefined {
  const built = join(dirname(fileURLToPath(import.meta.url)), '..', '..', 'workflow-bundle.js');
  return existsSync(built) ? built : undefined;
}

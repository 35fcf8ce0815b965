import { existsSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { failureConverterPath } from '../encryption/index.js';

/**
 * The workflows as the build bundled them, or undefined if this runs from sources that were not built.
 * @param encrypted those that encode failures and refuse clear input, for `createEncryptedDataConverter`
 */
export function workflowBundlePath({ encrypted = false } = {}): string | undefined {
  const name = encrypted ? 'workflow-bundle-encrypted.js' : 'workflow-bundle.js';
  const built = join(dirname(fileURLToPath(import.meta.url)), '..', '..', name);
  return existsSync(built) ? built : undefined;
}

/** What the bundle of workflows for `createEncryptedDataConverter` has beside them. */
export const encryptedBundle = {
  failureConverterPath,
  workflowInterceptorModules: [
    fileURLToPath(new URL(`../../workflows/shared/refuse-clear-input${extname(import.meta.url)}`, import.meta.url)),
  ],
};

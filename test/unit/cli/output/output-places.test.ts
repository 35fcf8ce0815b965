/** Where results may be saved. */
import { execFileSync } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { requirePlaces } from '../../../../src/cli/output-places.js';
import { temporaryDirectory } from '../temporary-directory.js';

it.skipIf(process.platform === 'win32')(
  'a pipe or a device, also through a link, is no place: the saved file would replace it',
  async () => {
    const cwd = await temporaryDirectory();
    execFileSync('mkfifo', [join(cwd, 'pipe')]);
    symlinkSync('pipe', join(cwd, 'link'));
    for (const path of ['pipe', 'link', '/dev/null']) {
      for (const kind of ['file', 'folder'] as const) {
        const checked = requirePlaces([{ option: '--get', path, kind }], cwd);
        await expect(checked).rejects.toThrow(`--get: ${path} is neither a file nor a folder`);
      }
    }
  },
);

import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { expect, it } from 'vitest';
import { repository } from './source-imports.js';

const folder = 'test/world/defects';
const patches = readdirSync(new URL('../../world/defects/', import.meta.url)).filter((name) => name.endsWith('.patch'));

it('each patch of test/world/defects applies to the code', () => {
  expect(patches).not.toEqual([]);
  const outdated = patches.filter((name) => {
    try {
      execFileSync('git', ['apply', '--check', '-C1', `${folder}/${name}`], { cwd: repository, stdio: 'ignore' });
      return false;
    } catch {
      return true;
    }
  });
  expect(outdated).toEqual([]);
});

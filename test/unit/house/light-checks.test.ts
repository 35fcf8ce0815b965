import { expect, it } from 'vitest';
import { importsIn, readSource } from './source-imports.js';

/** The packages that a file loads when it is imported, through all files that it imports. */
function packagesOf(file: string, seen = new Set<string>()): string[] {
  if (seen.has(file)) return [];
  seen.add(file);
  return importsIn(file, readSource(file)).flatMap(({ target, isOwn, isTypeOnly, isDynamic }) => {
    if (isTypeOnly || isDynamic) return [];
    return isOwn ? packagesOf(target, seen) : [target];
  });
}

it('the check of the command line of `run` loads no client, so that a mistake is answered at once', () => {
  const packages = packagesOf('src/cli/run/read-run.ts');
  expect(packages).toContain('zod');
  expect(packages.filter((name) => name.startsWith('@temporalio/') || name === 'undici')).toEqual([]);
  expect(packagesOf('src/cli/run/run-job.ts')).toContain('@temporalio/client');
});

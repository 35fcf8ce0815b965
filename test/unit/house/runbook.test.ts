/** Every incident of docs/runbook.md has a test of its name, which runs the printed commands. */
import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { incidents, printedCommands } from '../../slow/e2e/runbook/printed-commands.js';
import { readSource } from './source-imports.js';

const folder = 'test/slow/e2e/runbook';

test('every incident of the runbook is brought about by a test of its title, and has commands', () => {
  const files = readdirSync(folder).filter((name) => name.endsWith('.test.ts'));
  const titles = files.flatMap((name) => [
    ...readSource(`${folder}/${name}`).matchAll(/^it(?:\.skipIf\(.*\))?\('([^']+)'/gm),
  ]);
  expect(titles.map(([, title]) => title).sort()).toEqual([...incidents].sort());
  expect(incidents.length).toBeGreaterThanOrEqual(10);
  for (const incident of incidents) expect(printedCommands(incident).length).toBeGreaterThan(0);
});

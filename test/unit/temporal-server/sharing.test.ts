/** Which databases of the embedded server have fairness: tasks that wait in another one would be lost with it. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { sharing } from '../../../src/temporal-server/embedded.js';
import { temporaryDirectory } from '../cli/temporary-directory.js';

const fair = 'matching.enableFairness=true';

it('a new database has fairness, also when it is started again', async () => {
  const file = join(await temporaryDirectory(), 'temporal.db');
  expect(sharing(file)).toBe(fair);
  writeFileSync(file, 'tasks');
  expect(sharing(file)).toBe(fair);
});

it('a database from before has priorities alone, and keeps its queues', async () => {
  const file = join(await temporaryDirectory(), 'temporal.db');
  writeFileSync(file, 'tasks');
  expect([sharing(file), sharing(file)]).toEqual(Array(2).fill('matching.useNewMatcher=true'));
  expect(existsSync(`${file}.fair`)).toBe(false);
});

it('a database in memory has fairness', () => expect(sharing(undefined)).toBe(fair));

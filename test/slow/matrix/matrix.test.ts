import { beforeAll, expect, inject, it } from 'vitest';
import { workerActions } from '../../../src/cli/doctor/needed-actions.js';
import { endpoints } from '../../../src/contract/endpoints/endpoints.js';
import { actRowName } from './acts/run-act.js';
import { actRowsOf, runActs } from './acts/run-acts.js';
import { withoutRows } from './coverage.js';
import { allFaults, type Fault } from './faults/faults.js';
import { rowName } from './row.js';
import { choose, failuresText, runTable, say } from './run-table.js';
import { type Recording, record, rowsOf, scenarios } from './table.js';
import { createWorld } from './world.js';

const { rows: wanted, skip, sample, actSample } = inject('matrix');
const timeout = 4 * 3_600_000;
/** A second attempt would run the whole table again. A row that only exceeded its time is run again by itself. */
const once = { timeout, retry: 0 };

let faults: readonly Fault[];
let recordings: readonly Recording[];
beforeAll(async () => {
  const world = await createWorld({ lanes: 0 });
  faults = allFaults(world.foreign);
  recordings = await record(world, faults).finally(() => world.close());
}, timeout);

it('has a scenario for every call that workflows make', () => {
  expect(withoutRows(recordings)).toEqual({ activities: [], endpoints: [], places: [] });
});

it('makes only calls that the smallest key of a worker allows, and needs each of its actions', () => {
  const needed = recordings.flatMap(({ sites }) => sites.map(({ endpoint }) => endpoints[endpoint].scope));
  expect([...new Set(needed)].sort()).toEqual(Object.keys(workerActions).sort());
});

it('ends every scenario as expected without faults', () => {
  expect(recordings.map(({ scenario, ended }) => `${scenario.name}: ${ended.outcome}`)).toEqual(
    scenarios.map(({ name, expected }) => `${name}: ${expected}`),
  );
});

it('keeps every promise with any fault at any call', once, async () => {
  const all = rowsOf(recordings, faults);
  const chosen = choose(all, rowName, { wanted, sampleSize: sample }).slice(skip);
  say(`${all.length} rows of ${scenarios.length} scenarios, ${chosen.length} chosen`);
  const failures = await runTable(chosen, { atOnce: 10, lanes: 2, perWorld: 400, onProgress: say });
  expect(failures, failuresText(failures)).toEqual([]);
});

it('keeps every promise while somebody else acts before or after any call', once, async () => {
  const all = actRowsOf(recordings);
  const chosen = choose(all, actRowName, { wanted, sampleSize: actSample });
  say(`${all.length} acts of others, ${chosen.length} chosen`);
  const failures = await runActs(chosen, { atOnce: 8 });
  expect(failures, failuresText(failures)).toEqual([]);
});

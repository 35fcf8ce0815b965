/** Runs the table of acts of others in one world. */

import { allFaults } from '../faults/faults.js';
import { type Failure, say } from '../run-table.js';
import { faultNamed, type Recording } from '../table.js';
import { createWorld } from '../world.js';
import { acts } from './acts.js';
import { type ActRow, actRowName, atStart, runAct } from './run-act.js';

export function actRowsOf(recordings: readonly Recording[]): ActRow[] {
  const before = acts.filter(({ when }) => when === 'before');
  const starts = recordings
    .filter(({ isGiven }) => isGiven)
    .flatMap(({ scenario }) => before.map((act) => ({ scenario, site: atStart, act })));
  const around = recordings.flatMap(({ scenario, sites }) =>
    sites
      .filter(({ isShared, name }) => !isShared && (scenario.rowsAt?.includes(name) ?? true))
      .flatMap(({ name }) => acts.map((act) => ({ scenario, site: name, act }))),
  );
  return [...starts, ...around];
}

export async function runActs(
  rows: readonly ActRow[],
  { atOnce }: { readonly atOnce: number },
): Promise<readonly Failure[]> {
  if (rows.length === 0) return [];
  const world = await createWorld({ lanes: 0 });
  const strikerOf = faultNamed(allFaults(world.foreign));
  const failures: Failure[] = [];
  const take = async (queue: ActRow[], patience: number, onUntimely?: (row: ActRow) => void) => {
    for (let row = queue.shift(); row; row = queue.shift()) {
      const { broken, isUntimely } = await runAct(world, row, { strikerOf, patience });
      if (isUntimely && onUntimely) {
        onUntimely(row);
      } else if (broken.length > 0) {
        failures.push({ row: actRowName(row), broken });
        say(`broken ${actRowName(row)}\n    ${broken.join('\n    ')}`);
      }
      if (queue.length % 20 === 0 && queue.length > 0)
        say(`${queue.length} acts to be begun, ${failures.length} failed`);
    }
  };
  try {
    const queue = [...rows];
    const untimely: ActRow[] = [];
    await Promise.all(Array.from({ length: atOnce }, () => take(queue, 1, (row) => untimely.push(row))));
    // As with faults: concurrency or a busy machine makes runs exceed their time.
    if (untimely.length > 0) say(`${untimely.length} acts ran out of time, and are run again with more of it`);
    await Promise.all(Array.from({ length: 3 }, () => take(untimely, 3)));
    return failures;
  } finally {
    await world.close();
  }
}

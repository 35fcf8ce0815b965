/**
 * Runs rows, many at once, in one world after another, and prints the progress. Concurrency or a busy machine
 * makes rows exceed their time: a row that broke no promise is run again with few others and three times the time.
 */
import { allFaults } from './faults/faults.js';
import { isSlow, type Row, rowName, runRow, type Verdict } from './row.js';
import { faultNamed } from './table.js';
import type { World } from './world.js';
import { createWorld } from './world.js';

/** The settings of `vitest.config.ts`. */
declare module 'vitest' {
  export interface ProvidedContext {
    matrix: {
      /** Prefixes of row names, separated by commas, with `*` for anything; `all`; `from:` and a row; empty for the sample. */
      readonly rows: string;
      /** The number of chosen fault rows to skip, from the first. */
      readonly skip: number;
      /** The number of rows and of acts in the sample. */
      readonly sample: number;
      readonly actSample: number;
    };
  }
}

export interface Failure {
  readonly row: string;
  readonly broken: readonly string[];
}

export interface RunTableOptions {
  /** Concurrent rows. They wait most of the time. */
  readonly atOnce: number;
  readonly lanes: number;
  /** Rows per world: its records are read completely, and grow. */
  readonly perWorld: number;
  readonly onProgress?: (line: string) => void;
}

export async function runTable(rows: readonly Row[], options: RunTableOptions): Promise<readonly Failure[]> {
  const failures: Failure[] = [];
  let done = 0;
  let unreached = 0;
  for (let from = 0; from < rows.length; from += options.perWorld) {
    const part = rows.slice(from, from + options.perWorld);
    const world = await createWorld({ lanes: part.some(({ site }) => site.isShared) ? options.lanes : 0 });
    try {
      await runPart(world, part, options, (row, verdict) => {
        done += 1;
        if (!verdict.isReached) unreached += 1;
        const name = rowName(row);
        if (verdict.broken.length > 0) {
          failures.push({ row: name, broken: verdict.broken });
          options.onProgress?.(`broken ${name}\n    ${verdict.broken.join('\n    ')}`);
        }
        const line = `${done} of ${rows.length} rows, ${failures.length} failed, ${unreached} not reached`;
        if (done % 20 === 0 || done === rows.length) options.onProgress?.(line);
      });
    } finally {
      await world.close();
    }
  }
  return failures;
}

async function runPart(
  world: World,
  part: readonly Row[],
  { atOnce, onProgress }: RunTableOptions,
  onVerdict: (row: Row, verdict: Verdict) => void,
): Promise<void> {
  const untimely: Row[] = [];
  await runSideBySide(world, part, { atOnce, patience: 1 }, (row, verdict) => {
    if (verdict.isUntimely) untimely.push(row);
    else onVerdict(row, verdict);
  });
  if (untimely.length === 0) return;
  onProgress?.(`${untimely.length} rows ran out of time, and are run again with more of it`);
  await runSideBySide(world, untimely, { atOnce: 3, patience: 3 }, onVerdict);
}

async function runSideBySide(
  world: World,
  rows: readonly Row[],
  { atOnce, patience }: { readonly atOnce: number; readonly patience: number },
  onVerdict: (row: Row, verdict: Verdict) => void,
): Promise<void> {
  // The foreign ids of this world.
  const strikerOf = faultNamed(allFaults(world.foreign));
  const take = async (queue: Row[], lane?: string) => {
    for (let row = queue.shift(); row; row = queue.shift()) {
      const here = { ...row, fault: strikerOf(row.fault.name) };
      onVerdict(row, await runRow(world, here, { strikerOf, lane, patience }));
    }
  };
  const shared = rows.filter(({ site }) => site.isShared);
  const slow = rows.filter((row) => !row.site.isShared && isSlow(row));
  const others = rows.filter((row) => !row.site.isShared && !isSlow(row));
  await Promise.all([
    ...world.lanes.map((lane) => take(shared, lane)),
    ...Array.from({ length: atOnce * 3 }, () => take(slow)),
    ...Array.from({ length: atOnce }, () => take(others)),
  ]);
}

/** The failures as text, each with the command that runs its row alone. */
export function failuresText(failures: readonly Failure[]): string {
  const lines = failures.flatMap(({ row, broken }) => [
    row,
    ...broken.map((one) => `    ${one}`),
    `    ROWS='${row}' npm run test:matrix`,
  ]);
  return `${failures.length} rows failed\n${lines.join('\n')}`;
}

export const say = (line: string): void => void process.stderr.write(`matrix: ${line}\n`);

/** The chosen rows; without a choice the same sample on every machine, by the names of the rows. */
export function choose<Row>(
  all: readonly Row[],
  nameOf: (row: Row) => string,
  { wanted, sampleSize }: { readonly wanted: string; readonly sampleSize: number },
): Row[] {
  if (wanted === 'all') return [...all];
  if (wanted.startsWith('from:'))
    return all.slice(all.findIndex((row) => nameOf(row) === wanted.slice('from:'.length)));
  if (wanted !== '') {
    const wishes = wanted.split(',').map(beginsLike);
    return all.filter((row) => wishes.some((wish) => wish.test(nameOf(row))));
  }
  return all.toSorted((a, b) => orderOf(nameOf(a)) - orderOf(nameOf(b))).slice(0, sampleSize);
}

/** A prefix of a name, in which `*` matches anything. */
const beginsLike = (wish: string) => new RegExp(`^${wish.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*')}`);

/** FNV-1a */
function orderOf(name: string): number {
  let hash = 2_166_136_261;
  for (const letter of name) hash = Math.imul(hash ^ letter.charCodeAt(0), 16_777_619) >>> 0;
  return hash;
}

/**
 * Work on services that differ in what the specification leaves open: it completes, or ends with a clear error. Slow tier,
 * some
 * 1,300 CPU seconds. One row: `-t 'that differs A-prompt-id$'`.
 */
import { describe, expect, it } from 'vitest';
import { ends } from './ends.js';
import { type KindName, kinds } from './kinds.js';
import { runVariation, type Variation } from './run-variation.js';
import { pairs, rows } from './variations.js';

const names = Object.keys(kinds) as KindName[];
const whole = Object.fromEntries(names.map((name) => [name, 'completed']));
const timeout = 900_000;

/** An end in time, and by its own name: not that of the deadline. */
const isClear = (verdict: string) =>
  verdict.startsWith('completed') || /^(?!.*(deadline_exceeded|no code|did not end)).*: \w+$/.test(verdict);

/** More stands at once only make one another wait. */
const lanes: Promise<unknown>[] = [Promise.resolve(), Promise.resolve(), Promise.resolve()];
let turns = 0;

async function run(name: string, variations: readonly Variation[]) {
  const lane = turns++ % lanes.length;
  const running = (lanes[lane] ?? Promise.resolve()).then(() => runVariation(variations));
  lanes[lane] = running.catch(() => undefined);
  const seen = await running;
  process.stderr.write(`seen: ${name}: ${JSON.stringify(seen)}\n`);
  const broken = Object.values(seen).flatMap((one) => one.broken);
  return { verdicts: Object.fromEntries(Object.entries(seen).map(([kind, { verdict }]) => [kind, verdict])), broken };
}

it('expects clear ends only, of rows that there are', () => {
  const known = new Set(rows.map(([name]) => name));
  expect(Object.keys(ends).filter((name) => !known.has(name))).toEqual([]);
  expect(
    Object.values(ends)
      .flatMap(Object.values)
      .filter((verdict) => !isClear(verdict)),
  ).toEqual([]);
});

describe.concurrent('a service that differs', { timeout }, () => {
  it.for(rows)('%s', async ([name, variation], { expect }) => {
    const { verdicts, broken } = await run(name, [variation]);
    expect({ ...verdicts, broken }).toEqual({ ...whole, ...ends[name], broken: [] });
  });

  it.for(pairs.map((pair) => [pair.map(([one]) => one).join(' & '), pair] as const))(
    '%s',
    async ([name, pair], { expect }) => {
      const { verdicts, broken } = await run(
        name,
        pair.map(([, variation]) => variation),
      );
      expect({ unclear: Object.entries(verdicts).filter(([, verdict]) => !isClear(verdict)), broken }).toEqual({
        ...{ unclear: [], broken: [] },
      });
    },
  );
});

/** Which folders of the result store are those of workflows, and when a removal proves nothing. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { foldersOf, type ResultFolder, requireKnown, requireProof } from '../../../src/retention/forgotten.js';

const run = '0197c0de-0000-7000-8000-0123456789ab';
const day = 86_400_000;

async function joined(keys: readonly (readonly [string, number])[], deployment = 'blue'): Promise<ResultFolder[]> {
  async function* objects() {
    for (const [key, writtenMs] of keys) yield { key, writtenMs, size: 10 };
  }
  const found: ResultFolder[] = [];
  for await (const folder of foldersOf(objects(), deployment)) found.push(folder);
  return found;
}

describe('folders', () => {
  it('are joined from their objects, with the time of the newest', async () => {
    const keys = [
      [`sf-blue-a/${run}/results/0.txt`, 5],
      [`sf-blue-a/${run}/files/1`, 9],
      [`sf-blue-a/i1z/${run}/sent/x/record.json`, 7],
      [`sf-blue-a/prep/${run}/results/0.txt`, 1],
      [`fanout/sf-blue-b-2/${run}/chunks/0.json`, 3],
    ] as const;
    expect(await joined(keys)).toEqual([
      { folder: 'sf-blue-a/', workflowId: 'sf-blue-a', objects: 4, bytes: 40, newestMs: 9 },
      { folder: 'fanout/sf-blue-b-2/', workflowId: 'sf-blue-b-2', objects: 1, bytes: 10, newestMs: 3 },
    ]);
  });

  it.each([
    `sf-blue-a/notes.txt`,
    `sf-blue-a/2026/results/0.txt`,
    `sf-blue-a/${run}`,
    `sf-blue-a/chunk-1/${run}/x`,
    `sf-blue-A b/${run}/x`,
    `sf-blue-a--b/${run}/x`,
    `sf-blue-${'a'.repeat(60)}/${run}/x`,
  ])('are never old with an object that no workflow has written: %s', async (key) => {
    const [folder] = await joined([
      [`${key.split('/')[0]}/${run}/results/0.txt`, 1],
      [key, 1],
    ]);
    expect(folder?.newestMs).toBe(Number.POSITIVE_INFINITY);
  });

  it.each([
    'inputs/abc',
    'schedules/a.json',
    `cleanups/cleanup/blue/n/${run}/plan.json`,
    `other/sf-blue-a/${run}/x`,
    `sf-blue-a`,
  ])('are none of other objects: %s', async (key) => expect(await joined([[key, 1]])).toEqual([]));

  it('are as old as the newest object, whatever else is there', async () => {
    const object = fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.integer({ min: 0, max: 100 }));
    await fc.assert(
      fc.asyncProperty(fc.array(object), async (drawn) => {
        const sorted = drawn.toSorted(([a], [b]) => a.localeCompare(b));
        const found = await joined(sorted.map(([id, ms]) => [`sf-blue-${id}/${run}/x`, ms]));
        for (const { workflowId, newestMs, objects } of found) {
          const times = drawn.filter(([id]) => workflowId === `sf-blue-${id}`).map(([, ms]) => ms);
          expect({ newestMs, objects }).toEqual({ newestMs: Math.max(...times), objects: times.length });
        }
        expect(found).toHaveLength(new Set(drawn.map(([id]) => id)).size);
      }),
    );
  });
});

describe('a removal is refused', () => {
  const here = { id: 'here', retentionMs: 30 * day };
  const own = 'namespaces/blue/here';

  it.each([
    [
      'for the mark of another namespace',
      here,
      [own, 'namespaces/blue/there'],
      31 * day,
      /remove the object namespaces\/blue\/there/,
    ],
    ['without the mark of its own', here, [], 31 * day, /no worker of this Temporal namespace/],
    [
      'for what Temporal may still know',
      here,
      [own],
      31 * day - 1,
      /for 30d\. Choose an age that is at least a day longer/,
    ],
    [
      'if Temporal does not tell its retention',
      { id: 'here', retentionMs: Number.NaN },
      [own],
      99 * day,
      /for an unknown time/,
    ],
    [
      'if Temporal does not tell its id',
      { id: '', retentionMs: day },
      [own],
      99 * day,
      /another Temporal namespace has jobs/,
    ],
  ])('%s', (_, asked, marks, ageMs, text) => {
    expect(() => requireProof(asked, marks, ageMs)).toThrow(text);
  });

  it('and otherwise not', () => {
    expect(requireProof(here, [own], undefined)).toBe(31 * day);
    expect(requireProof({ ...here, retentionMs: day }, [own], undefined)).toBe(30 * day);
    expect(requireProof(here, [own], 99 * day)).toBe(99 * day);
  });

  it('if Temporal knows fewer than eight of ten of the newest jobs, or there is none', () => {
    expect(() => requireKnown(0, 0)).toThrow('no job is so young');
    expect(() => requireKnown(10, 7)).toThrow('knows only 7 of the 10 newest');
    expect(() => requireKnown(10, 8)).not.toThrow();
    expect(() => requireKnown(1, 1)).not.toThrow();
  });
});

import { expect, it } from 'vitest';
import type { WorldRecord } from '../../world/oracle/record.js';
import { brokenSources } from '../../world/oracle/sources.js';
import type { SourcesPlan } from '../../world/plan/plan.js';
import type { BatchEnd } from '../../world/players/told.js';

type Call = readonly [workflow: string, endpoint: string, sandboxId: string, atMs: number];
type Sandbox = readonly [part: string, gone: string | null];
type End = Pick<BatchEnd, 'atMs' | 'outcome'> & {
  readonly code: string | null;
  readonly failed: number;
  readonly items: readonly string[];
};

/** Two items each of a sandbox that is prepared, of a person's, and of one whose preparation a person mends. */
const plan = {
  ...{ kind: 'batch', key: 'j1', source: 'archived', items: 6, concurrency: 2, retries: 0, tight: false, alike: null },
  sources: { of: ['setup', 'archived', 'unready'], atOnce: 1, end: 'delete', afterwards: 'mend' },
};
const sandboxes: readonly Sandbox[] = [
  ...(['p0-1', 'p2-1', 'p2-4'] as const).map((part) => [part, 'deleted'] as const),
  ...['i0-1', 'i1-1', 'i2-1', 'i3-1', 'i4-1', 'i5-1'].map((part) => [part, null] as const),
];
const calls: readonly Call[] = [
  ['/p0', 'createSandbox', '', 1],
  ['/i0', 'forkSandbox', 'p0-1', 2],
  ['/i1', 'forkSandbox', 'p0-1', 3],
  ['/i1', 'stopSandbox', 'i1-1', 4],
  ['', 'deleteSandbox', 'p0-1', 5],
  ['/i2', 'forkSandbox', 'person', 6],
  ['/i3', 'forkSandbox', 'person', 7],
  ['/i3', 'stopSandbox', 'i3-1', 8],
  ['/p2', 'createSandbox', '', 9],
  ['', 'deleteSandbox', 'p2-1', 10],
  ['/p2', 'createSandbox', '', 21],
  ['/i4', 'forkSandbox', 'p2-4', 22],
  ['/i5', 'forkSandbox', 'p2-4', 23],
  ['/i5', 'stopSandbox', 'i5-1', 24],
  ['', 'deleteSandbox', 'p2-4', 25],
];
const done = 'completed';
const first: End = {
  ...{ atMs: 20, outcome: 'partly_failed', code: 'command_failed', failed: 1 },
  items: [done, done, done, done, 'not_started', 'not_started'],
};
const second: End = { atMs: 30, outcome: 'completed', code: null, failed: 0, items: Array(6).fill(done) };
const seeds = ['source 0 of j1', 'source 1 of j1', 'source 2 of j1'];

interface Played {
  readonly sources?: Partial<SourcesPlan>;
  readonly sandboxes?: readonly Sandbox[];
  readonly calls?: readonly Call[];
  readonly first?: Partial<End>;
  readonly second?: Partial<End>;
  /** What the items show of their sources. */
  readonly seeds?: readonly string[];
  readonly left?: readonly string[];
  readonly acted?: readonly string[];
  readonly deleted?: readonly string[];
  readonly trouble?: object;
}

const ended = ({ atMs, outcome, code, failed, items }: End) => ({
  ...{ atMs, outcome, left: [], sources: { failed } },
  error: code && { code, message: '', status: null },
  items: items.map((of, index) => ({ index, itemId: `${index}`, outcome: of })),
});
const change = <T>(list: readonly T[], isMeant: (one: T) => boolean, to: (one: T) => readonly T[]) =>
  list.flatMap((one) => (isMeant(one) ? to(one) : [one]));
const without = (endpoint: string, sandboxId: string) =>
  calls.filter((one) => one[1] !== endpoint || one[2] !== sandboxId);

function brokenBy(played: Played): string[] {
  const record = {
    plan: {
      service: { promptIds: true },
      jobs: [{ ...plan, sources: { ...plan.sources, ...played.sources } }],
      troubles: played.trouble ? [{ key: 't1', at: { job: 'j1' }, ...played.trouble }] : [],
    },
    struck: new Set(['t1']),
    told: [
      {
        ...{ job: 'j1', workflowId: 'sf-world-j1', outcome: 'completed', error: null, given: ['person'] },
        left: played.left ?? [],
        ends: [ended({ ...first, ...played.first }), ended({ ...second, ...played.second })],
        jobs: Array.from({ length: 6 }, (_, item) => ({
          outcome: 'completed',
          prompts: [{ result: `j1 ${item}\n${(played.seeds ?? seeds)[item % 3]}\n` }],
        })),
      },
    ],
    traces: {
      ...{ forks: [], renamed: new Map(), resumed: new Map(), taken: new Set() },
      ...{ acted: new Set(played.acted), deleted: new Set(played.deleted) },
    },
    books: {
      sandboxes: (played.sandboxes ?? sandboxes).map(([part, gone]) => ({
        ...{ id: part, name: `sf-world-j1-4bb9474fd862-${part}`, state: 'archived', gone },
      })),
    },
    calls: (played.calls ?? calls).map(([workflow, endpoint, sandboxId, atMs]) => ({
      ...{ job: 'j1', atMs, call: { workflowId: `sf-world-j1${workflow}`, endpoint, sandboxId, isRead: false } },
    })),
    played: new Map(),
  };
  return [...new Set(brokenSources(record as unknown as WorldRecord).map(({ promise }) => promise))];
}

const once = 'a source is prepared once';
const places = 'no more sources at once than asked';
const end = 'a source ends after its last item, as asked';
const own = 'an item runs on a fork of its own source';
const apart = 'a source that fails costs only its own items';

it.each<[string, Played, string | undefined]>([
  ['all is well', {}, undefined],
  ['one was prepared twice', { sandboxes: [...sandboxes, ['p0-2', 'deleted']] }, once],
  [
    'one was prepared again, because its first machine was lost',
    {
      sandboxes: change(
        sandboxes,
        ([part]) => part === 'p0-1',
        () => [
          ['p0-1', 'cancelled'],
          ['p0-2', 'deleted'],
        ],
      ),
    },
    undefined,
  ],
  [
    'a person deleted one, which was then prepared again',
    { sandboxes: [...sandboxes, ['p0-2', 'deleted']], deleted: ['p0-1'], acted: ['p0-1'] },
    undefined,
  ],
  ['the resume prepared what no item needs', { sandboxes: [...sandboxes, ['p0-4', 'deleted']] }, once],
  [
    'one began before the one before it had ended',
    {
      calls: change(
        calls,
        (one) => one[0] === '/p2' && one[3] === 9,
        () => [['/p2', 'createSandbox', '', 7]],
      ),
    },
    places,
  ],
  [
    'two may be in use at once',
    {
      sources: { atOnce: 2 },
      calls: change(
        calls,
        (one) => one[0] === '/p2' && one[3] === 9,
        () => [['/p2', 'createSandbox', '', 7]],
      ),
    },
    undefined,
  ],
  [
    'one was ended before an item forked it',
    {
      calls: change(
        calls,
        (one) => one[3] === 5,
        (one) => [[one[0], one[1], one[2], 2.5]],
      ),
    },
    end,
  ],
  [
    'one was ended while an item worked',
    {
      calls: change(
        calls,
        (one) => one[3] === 5,
        (one) => [[one[0], one[1], one[2], 3.5]],
      ),
    },
    end,
  ],
  [
    'the batch stopped one before its first fork, because its job could not',
    { calls: [...calls, ['', 'stopSandbox', 'p0-1', 1.5]] },
    undefined,
  ],
  [
    'one was left',
    {
      calls: without('deleteSandbox', 'p0-1'),
      sandboxes: change(
        sandboxes,
        ([part]) => part === 'p0-1',
        () => [['p0-1', null]],
      ),
    },
    end,
  ],
  [
    'one was left, and the batch names it',
    {
      left: ['p0-1'],
      sandboxes: change(
        sandboxes,
        ([part]) => part === 'p0-1',
        () => [['p0-1', null]],
      ),
    },
    undefined,
  ],
  ['those that should be stopped are deleted', { sources: { end: 'stop' } }, end],
  [
    'an item forked the source of others',
    {
      calls: change(
        calls,
        (one) => one[3] === 6,
        (one) => [[one[0], one[1], 'p0-1', one[3]]],
      ),
    },
    own,
  ],
  ['an item shows the source of others', { seeds: ['source 0 of j1', 'source 0 of j1', 'source 2 of j1'] }, own],
  [
    'an item shows a source that a person has changed',
    { seeds: ['source 0 of j1', 'changed', 'source 2 of j1'], acted: ['person'], trouble: { kind: 'act' } },
    undefined,
  ],
  [
    'one failed, and an item of another was not started',
    { first: { items: [done, done, done, 'not_started', 'not_started', 'not_started'] } },
    apart,
  ],
  [
    'a person deleted one, and an item of another was not started',
    {
      trouble: { kind: 'act' },
      acted: ['p0-1'],
      first: { items: [done, 'not_started', done, 'not_started', 'not_started', 'not_started'], failed: 3 },
    },
    apart,
  ],
  [
    'a person deleted one, whose items were not started',
    {
      trouble: { kind: 'act' },
      acted: ['p0-1'],
      first: { items: [done, 'not_started', done, done, 'not_started', 'not_started'], failed: 2 },
    },
    undefined,
  ],
  [
    'items of more than those that failed were not started',
    { trouble: { kind: 'wire' }, first: { items: [done, done, done, 'not_started', 'not_started', 'not_started'] } },
    apart,
  ],
  ['an item of one that failed has run', { first: { items: [done, done, done, done, done, 'not_started'] } }, apart],
  [
    'one that was mended failed again',
    { second: { outcome: 'partly_failed', code: 'command_failed', failed: 1, items: first.items } },
    apart,
  ],
  ['a failed setup is told as a machine', { first: { code: 'resume_failed' } }, apart],
  ['a failed setup is told as an agent', { trouble: { kind: 'wire' }, first: { code: 'prompt_failed' } }, apart],
  [
    'what failed by the service is told as a setup',
    {
      trouble: { kind: 'wire', fault: 'http_500' },
      second: { outcome: 'partly_failed', code: 'command_failed', failed: 1, items: first.items },
    },
    apart,
  ],
])('of a batch of several sources, %s', (_, played, broken) => {
  expect(brokenBy(played)).toEqual(broken === undefined ? [] : [broken]);
});

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { matrixOf, policyOf } from '../../../../src/cli/fanout/batch-input.js';
import { freshSourceText, sourceOf, sourcesOf } from '../../../../src/cli/fanout/fanout-source.js';
import type { FanoutOptions } from '../../../../src/cli/fanout/options.js';
import { createItemFiles } from '../../../../src/cli/fanout/results/item-files.js';
import type { ItemWish, SourceWish } from '../../../../src/fanout/index.js';
import { temporaryDirectory } from '../temporary-directory.js';

const none: FanoutOptions = {
  prompt: [],
  provider: [],
  model: [],
  effort: [],
  put: [],
  label: [],
  get: [],
  command: [],
  preparePut: [],
  preparePrompt: [],
  env: true,
  snapshots: true,
  check: true,
  checks: [],
  after: [],
  always: [],
  checkBefore: true,
  monitoring: true,
};
const parts = { prompts: [], put: [] };

describe('the policy of a batch', () => {
  it('contains only given options, so that a resume changes only those', () => {
    expect(policyOf('fanout', none)).toEqual({});
    expect(
      policyOf('fanout', {
        ...none,
        concurrency: '5',
        retries: '2',
        first: '3',
        itemDeadline: '10m',
        deadline: '2h',
        budget: '1h30m',
        type: 'small',
        end: 'delete',
        ttl: '90s',
        onUnknown: 'resend',
      }),
    ).toEqual({
      concurrency: 5,
      retries: 2,
      stopAt: { kind: 'successes', count: 3 },
      itemDeadlineMs: 600_000,
      deadlineMs: 7_200_000,
      budgetSeconds: 5_400,
      type: 'small',
      end: 'delete',
      ttlSeconds: 90,
      onUnknownOutcome: 'resend',
    });
    expect(policyOf('fanout', { ...none, failFast: true })).toEqual({ stopAt: { kind: 'fail_fast' } });
  });

  it.each([
    [{ first: '2', failFast: true }, 'Use --first or --fail-fast, not both'],
    [{ first: '0' }, '--first must be a whole number from 1 to 1000000, not "0"'],
    [{ concurrency: '1.5' }, '--concurrency must be a whole number from 1 to 2000, not "1.5"'],
    [{ retries: '99' }, '--retries must be a whole number from 0 to 10, not "99"'],
    [{ budget: '10' }, '--budget: "10" is not a duration'],
    [{ ttl: '10ms' }, '--ttl must be at least 1s'],
  ])('%j is refused', (options, message) => {
    expect(() => policyOf('fanout', { ...none, ...options })).toThrow(message);
  });
});

describe('client rows: how the forks of a batch are created and prompted', () => {
  it('is not part of the policy unless an option says so', () => {
    expect(policyOf('fanout', none)).toEqual({});
  });

  it('has the options that run has', () => {
    const given = {
      ...none,
      waitFor: 'hydrated',
      eachConversation: true,
      conversation: 'conv_1',
      snapshots: false,
      monitoring: false,
    } as const;
    expect(policyOf('fanout', given)).toEqual({
      waitFor: 'hydrated',
      conversations: 'each',
      conversationId: 'conv_1',
      snapshots: false,
      monitoring: false,
    });
  });

  it('needs no environment', () => {
    expect(sourceOf({ ...none, snapshot: 'base', env: false }, parts)).toMatchObject({ body: { noEnv: true } });
    expect(sourceOf({ ...none, command: ['ls'], env: false }, parts)).toMatchObject({ body: { noEnv: true } });
  });
});

describe('the matrix of a batch', () => {
  it('accepts comma-separated and repeated values', () => {
    const given = { ...none, provider: ['codex'], model: ['a, b', 'c'], effort: ['low,high'], repeat: '3' };
    expect(matrixOf(given)).toEqual({
      providers: ['codex'],
      models: ['a', 'b', 'c'],
      efforts: ['low', 'high'],
      repeats: 3,
    });
  });

  it.each([
    [{ model: ['a,'] }, '--model: a value is empty'],
    [{ model: ['a', 'a'] }, '--model: a is given twice'],
    [{ effort: ['huge'] }, '--effort must be one of none, low'],
    [{ repeat: '0' }, '--repeat must be a whole number from 1 to 1000, not "0"'],
  ])('%j is refused', (options, message) => {
    expect(() => matrixOf({ ...none, ...options })).toThrow(message);
  });
});

describe('the source of a batch', () => {
  it('is a sandbox, a snapshot, or a fresh sandbox that the batch prepares', () => {
    expect(sourceOf({ ...none, source: 'bx_2345abcd', allowStale: true }, parts)).toEqual({
      kind: 'sandbox',
      sandboxId: 'bx_2345abcd',
      allowStale: true,
    });
    expect(sourceOf({ ...none, snapshot: 'base', environment: 'web' }, parts)).toEqual({
      kind: 'snapshot',
      from: 'base',
      body: { environment: 'web' },
    });
    expect(sourceOf({ ...none, command: ['ls'], prepareEnd: 'delete' }, { ...parts, prompts: ['set up'] })).toEqual({
      kind: 'prepare',
      body: {},
      put: [],
      commands: ['ls'],
      prompts: [{ prompt: 'set up' }],
      deadlineMs: 3_600_000,
      end: 'delete',
    });
  });

  it('forks a fresh sandbox if no option names or prepares a source, and says so', () => {
    expect(sourceOf(none, parts)).toMatchObject({ kind: 'prepare', body: {}, put: [], commands: [], prompts: [] });
    expect(freshSourceText(none)).toContain('The batch creates a fresh sandbox and forks it.');
    expect(freshSourceText({ ...none, command: ['ls'] })).toBeUndefined();
    expect(freshSourceText({ ...none, snapshot: 'base' })).toBeUndefined();
  });

  it.each([
    [{ source: 'bx_2345abcd', snapshot: 'base' }, 'Use --source or --snapshot, not both'],
    [{ source: 'web' }, '--source: "web" is not a sandbox id'],
    [{ source: 'bx_2345abcd', command: ['ls'], setup: 'x' }, '--command, --setup cannot be used with --source'],
    [{ snapshot: 'base', prepareType: 'large' as const }, '--prepare-type cannot be used with --snapshot'],
    [{ snapshot: 'base', allowStale: true }, '--allow-stale requires --source'],
    [{ source: 'bx_2345abcd', env: false }, '--no-env cannot be used with --source'],
    [{ command: ['ls'], environment: 'web', env: false }, 'Use --environment or --no-env, not both'],
    [{ command: ['ls'], prepareDeadline: 'soon' }, '--prepare-deadline: "soon" is not a duration'],
  ])('%j is refused', (options, message) => {
    const given = { ...none, ...options };
    expect(() => [policyOf('fanout', given), sourceOf(given, parts)]).toThrow(message);
  });
});

describe('the source of an item', () => {
  const place = { file: 'f', line: 1 };
  const named = (source: SourceWish, options: Partial<FanoutOptions> = {}, createBody = {}) =>
    sourcesOf({ ...none, setup: 'script', ...options }, { ...parts, createBody }).ofItem({ place, source });
  const prepared = { kind: 'prepare', put: [], prompts: [], deadlineMs: 3_600_000, end: 'stop' };

  it.each<[SourceWish, Partial<FanoutOptions>, object]>([
    [{ source: 'bx_2345abce' }, {}, { kind: 'sandbox', sandboxId: 'bx_2345abce', allowStale: false }],
    [
      { source: 'bx_2345abce' },
      { source: 'bx_2345abcd', allowStale: true },
      { kind: 'sandbox', sandboxId: 'bx_2345abce', allowStale: true },
    ],
    [{ snapshot: 'base' }, { command: ['ls'] }, { kind: 'snapshot', from: 'base', body: {} }],
    [{ environment: 'web' }, { snapshot: 'base' }, { kind: 'snapshot', from: 'base', body: { environment: 'web' } }],
    [
      { environment: 'web' },
      { command: ['ls'], env: false },
      { ...prepared, body: { setupScript: 'script', environment: 'web' }, commands: ['ls'] },
    ],
    [
      { setup: ['make'] },
      { command: ['ls'], environment: 'web' },
      { ...prepared, body: { setupScript: 'script', environment: 'web' }, commands: ['make'] },
    ],
    [
      { snapshot: 'base', setup: ['make'] },
      { source: 'bx_2345abcd' },
      { ...prepared, body: { setupScript: 'script', from: 'base' }, commands: ['make'] },
    ],
  ])('%j beside %j', (wish, options, source) => {
    expect(named(wish, options)).toEqual(source);
  });

  it('has the machine size of --create-body, and that of --prepare-type if it is prepared', () => {
    const base = { snapshot: 'base' };
    const made = { type: 'large', team: 'blue' };
    expect(named(base, { prepareType: 'small' }, made)).toEqual({ kind: 'snapshot', from: 'base', body: made });
    expect(named(base, { prepareType: 'small' })).toEqual({ kind: 'snapshot', from: 'base', body: {} });
    expect(named({ ...base, setup: ['make'] }, { prepareType: 'small' })).toMatchObject({ body: { type: 'small' } });
  });

  it('is that of the batch if the item names none', () => {
    const { batch, ofItem } = sourcesOf({ ...none, source: 'bx_2345abcd' }, parts);
    expect(ofItem({ place })).toBe(batch);
  });
});

describe('files of items', () => {
  it('are inline if they are small, and otherwise stored once each', async () => {
    const cwd = await temporaryDirectory();
    await writeFile(join(cwd, 'small'), 'abc');
    await writeFile(join(cwd, 'large'), 'x'.repeat(5_000));
    const files = createItemFiles({
      cwd,
      put: [{ local: 'large', remote: 'in/large' }],
      gets: new Map([['out.md', 'out.md']]),
    });
    const wish: ItemWish = {
      id: '1',
      prompts: [{ prompt: 'p' }],
      put: [{ local: 'small', remote: 'in/small' }],
      collect: ['own.md', 'out.md'],
      place: { file: 'f', line: 7 },
    };
    const kept: Buffer[] = [];
    const store = async (content: Buffer) => `ref:${kept.push(content)}`;
    const item = await files.read(wish, store);
    expect(item).toEqual({
      id: '1',
      prompts: [{ prompt: 'p' }],
      put: [
        { path: 'in/large', content: { ref: 'ref:1' } },
        { path: 'in/small', content: { base64: 'YWJj' } },
      ],
      collect: ['out.md', 'own.md'],
    });
    await files.read({ ...wish, put: [] }, store);
    expect(kept).toHaveLength(1);
    await expect(files.check({ ...wish, put: [{ local: 'gone', remote: 'x' }] })).rejects.toThrow(
      'f:7: put: gone cannot be read.',
    );
  });
});

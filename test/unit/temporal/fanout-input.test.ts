import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ChunkSubmission } from '../../../src/protocol/fanout/batch-parts.js';
import type {
  FanoutInput,
  FanoutItem,
  FanoutSource,
  NewFanoutItem,
} from '../../../src/protocol/fanout/fanout-input.js';
import { defaultPolicy, parseFanoutInput, parseFanoutItem } from '../../../src/workflow-client/fanouts/fanout-input.js';
import { packItems } from '../../../src/workflow-client/fanouts/pack-items.js';

const input: FanoutInput = {
  deployment: 'test',
  batchId: 'nightly-42',
  source: { kind: 'sandbox', sandboxId: 'bx_22222222', allowStale: false },
  policy: {
    concurrency: 10,
    stopAt: { kind: 'go_on' },
    retries: 1,
    itemDeadlineMs: 60_000,
    deadlineMs: 600_000,
    budgetSeconds: null,
    type: null,
    end: 'delete',
    ttlSeconds: 600,
    onUnknownOutcome: 'wait',
  },
};
const item = (id: string, prompt = 'hello'): FanoutItem => ({ id, prompts: [{ prompt }] });

async function pack(
  items: readonly NewFanoutItem[],
  options: Partial<Parameters<typeof packItems>[1]> = {},
): Promise<ChunkSubmission[]> {
  const chunks: ChunkSubmission[] = [];
  for await (const chunk of packItems(items, { source: input.source, ...options })) chunks.push(chunk);
  return chunks;
}

const fresh = { kind: 'prepare', body: {}, put: [], commands: [], prompts: [], deadlineMs: 1, end: 'stop' } as const;

describe('the input of a batch', () => {
  it('is accepted unchanged', () => {
    expect(parseFanoutInput(input)).toEqual(input);
  });

  it('takes a fresh sandbox that is not prepared as the source', () => {
    expect(parseFanoutInput({ ...input, source: fresh }).source).toEqual(fresh);
  });

  it('names a conversation only of a sandbox that exists, and only for prompts in order', () => {
    const policy = { ...defaultPolicy, conversationId: 'conv_1' };
    expect(parseFanoutInput({ ...input, policy }).policy).toEqual(policy);
    expect(() => parseFanoutInput({ ...input, source: fresh, policy })).toThrow(
      'policy.conversationId: only a sandbox as the source (--source) has a conversation that forks continue',
    );
    const inParallel = { ...policy, conversations: 'each' };
    expect(() => parseFanoutInput({ ...input, policy: inParallel })).toThrow('begin their own conversations');
  });

  it('keeps the fields of requests that the specification leaves open', () => {
    const source = { kind: 'snapshot', from: 'base', body: { team: 'blue' } } as const;
    const policy = { ...defaultPolicy, forkBody: { team: 'blue' } };
    expect(parseFanoutInput({ ...input, source, policy })).toMatchObject({ source, policy });
    const parsed = parseFanoutItem({ id: 'a', prompts: [{ prompt: 'x', temperature: 0.5 }] }, 0);
    expect(parsed.prompts).toEqual([{ prompt: 'x', temperature: 0.5 }]);
  });

  it.each([
    [{ policy: { ...defaultPolicy, forkBody: { type: 'small' } } }, 'policy.forkBody.type: sandflow sets'],
    [{ source: { kind: 'snapshot', from: 'base', body: { from: 'x' } } }, 'source.body.from: sandflow sets'],
    [
      { source: { ...fresh, body: { snapshot: true } } },
      'source.body.snapshot: unknown field, did you mean snapshots?',
    ],
  ])('refuses %j', (over, message) => {
    expect(() => parseFanoutInput({ ...input, ...over })).toThrow(message);
  });

  it('own worker: needs no policy', () => {
    const { policy: _, ...rest } = input;
    expect(parseFanoutInput(rest).policy).toEqual(defaultPolicy);
    expect(parseFanoutInput({ ...rest, policy: { retries: 2 } }).policy).toEqual({ ...defaultPolicy, retries: 2 });
  });

  it.each([
    ['batchId: the batch id "Nightly"', { batchId: 'Nightly' }],
    ['policy.concurrency', { policy: { ...input.policy, concurrency: 0 } }],
    ['policy.retries', { policy: { ...input.policy, retries: 11 } }],
    ['must be stop or delete if there is a budget', { policy: { ...input.policy, budgetSeconds: 5, end: 'keep' } }],
    ['source.sandboxId', { source: { ...input.source, sandboxId: 'bx_1' } }],
    ['must have snapshots on', { source: { ...fresh, body: { snapshots: false } } }],
  ])('is refused with the reason: %s', (message, over) => {
    const parse = () => parseFanoutInput({ ...input, ...over });
    expect(parse).toThrow(message);
    expect(parse).toThrow(expect.objectContaining({ code: 'bad_fanout_input' }));
  });
});

describe('items', () => {
  it('are refused by number, with the reason', async () => {
    expect(() => parseFanoutItem({ id: 'a', prompts: [] }, 4)).toThrow(
      'Item 5 cannot be submitted: prompts: needs at least one',
    );
    await expect(pack([item('a', 'x'.repeat(1_000_000))])).rejects.toThrow(
      'Item 1 cannot be submitted: prompts.0.prompt takes 1000000 bytes',
    );
    expect(() => parseFanoutItem({ ...item('a'), end: 'keep' }, 0, { budgetSeconds: 5 })).toThrow(
      'must be stop or delete',
    );
    await expect(pack([item('a'), item('b'), item('a')])).rejects.toThrow(
      'Item 3 cannot be submitted: the id "a" is a duplicate',
    );
  });

  it('are packed by count and by bytes, in order, and always the same way', async () => {
    const size = fc.oneof(fc.nat(2_000), fc.integer({ min: 0, max: 149_000 }));
    const sizes = fc.array(size, { minLength: 1, maxLength: 250 });
    await fc.assert(
      fc.asyncProperty(sizes, async (of) => {
        const items = of.map((bytes, at) => item(`${at}`, `p${'x'.repeat(bytes)}`));
        const chunks = await pack(items);
        expect(chunks.flatMap((chunk) => chunk.items)).toEqual(items);
        for (const [at, { chunk, firstIndex, items: held }] of chunks.entries()) {
          expect(chunk).toBe(at);
          expect(firstIndex).toBe(Number(held[0]?.id));
          expect(held.length).toBeLessThanOrEqual(100);
          expect(JSON.stringify(held).length).toBeLessThan(500_000);
        }
        expect((await pack(items)).map(({ digest }) => digest)).toEqual(chunks.map(({ digest }) => digest));
      }),
      { numRuns: 15 },
    );
  });
});

describe('items with sources of their own', () => {
  const sandbox = (id: string): FanoutSource => ({ kind: 'sandbox', sandboxId: `bx_2222222${id}`, allowStale: false });
  const sources = [undefined, sandbox('2'), sandbox('3'), sandbox('4'), { ...fresh, commands: ['make'] }] as const;

  it('stand together by source, each item once and in order, and each chunk has one source', async () => {
    const some = fc.array(fc.nat(sources.length - 1), { minLength: 1, maxLength: 350 });
    await fc.assert(
      fc.asyncProperty(some, async (of) => {
        const items = of.map((which, at) => ({ ...item(`${at}`), ...(sources[which] && { source: sources[which] }) }));
        const chunks = await pack(items);
        // The first of these sources is that of the batch.
        const keyOf = (source?: FanoutSource) => JSON.stringify(source ?? sources[1]);
        const keys = [...new Set(items.map(({ source }) => keyOf(source)))];
        const grouped = keys.flatMap((key) => items.filter(({ source }) => keyOf(source) === key));
        expect(chunks.flatMap(({ items: held }) => held.map(({ id }) => id))).toEqual(grouped.map(({ id }) => id));
        let index = 0;
        for (const { firstIndex, items: held, source } of chunks) {
          expect(firstIndex).toBe(index);
          index += held.length;
          for (const { id, ...rest } of held) {
            expect(keyOf(items[Number(id)]?.source)).toBe(keyOf(source));
            expect(rest).not.toHaveProperty('source');
          }
        }
        expect(chunks.every(({ source }) => JSON.stringify(source) !== keyOf())).toBe(true);
        expect(await pack(items)).toEqual(chunks);
      }),
      { numRuns: 30 },
    );
  });

  it('change the digest of their chunk', async () => {
    const digest = async (source?: FanoutSource) =>
      (await pack([{ ...item('a'), ...(source && { source }) }]))[0]?.digest;
    const digests = [await digest(), await digest(sandbox('3')), await digest(sandbox('4'))];
    expect(new Set(digests).size).toBe(3);
    expect(await digest(input.source)).toBe(digests[0]);
  });

  it('are refused by number, with the reason', async () => {
    const wrong = { ...item('b'), source: { kind: 'sandbox', sandboxId: 'bx_1', allowStale: false } } as const;
    await expect(pack([item('a'), wrong])).rejects.toThrow('Item 2 cannot be submitted: sandboxId: ');
    const none = { source: undefined };
    await expect(pack([{ ...item('a'), source: sandbox('3') }, item('b')], none)).rejects.toThrow(
      'Item 2 cannot be submitted: it names no source, and the batch has none.',
    );
    const policy = { ...defaultPolicy, conversationId: 'c' };
    await expect(pack([{ ...item('a'), source: fresh }], { policy })).rejects.toThrow(
      'Item 1 cannot be submitted: source: only a sandbox',
    );
    const large = { ...fresh, body: { x: 'x'.repeat(300_000) } };
    await expect(pack([{ ...item('a'), source: large }])).rejects.toThrow('Item 1 cannot be submitted: ');
    const script = { ...fresh, body: { setupScript: 'x'.repeat(200_000) } };
    await expect(pack([{ ...item('a'), source: script }])).rejects.toThrow(
      'source.body.setupScript takes 200000 bytes',
    );
  });

  it('are refused before the first chunk if there are more sources or items than chunks', async () => {
    const made = (at: number): NewFanoutItem => ({ ...item(`${at}`), source: { ...fresh, commands: [`make ${at}`] } });
    const first = (items: readonly NewFanoutItem[]) => packItems(items, { source: input.source }).next();
    // The first source fills a chunk of its own.
    const some = Array.from({ length: 150 }, (_, at) => item(`of the batch ${at}`));
    const many = [...some, ...Array.from({ length: 999 }, (_, at) => made(at))];
    await expect(first(many)).rejects.toThrow('The batch is too large: its items take 1001 chunks, each of one source');
    expect(await first(many.slice(0, -1))).toMatchObject({ done: false });
  });

  it('need no source of the batch', () => {
    const { source: _, ...rest } = input;
    expect(parseFanoutInput(rest)).toEqual(rest);
  });
});

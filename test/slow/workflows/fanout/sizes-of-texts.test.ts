/** Every input of a batch and its items, with sizes around Temporal's limits: each works, or is refused before the start. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cancelFanout, describeFanout } from '../../../../src/workflow-client/fanouts/fanout-client.js';
import { submitFanout } from '../../../../src/workflow-client/fanouts/submit-fanout.js';
import type { FanoutInput, FanoutItem } from '../../../../workflows/index.js';
import { archivedSandbox, ended, fanoutInput, items, lines, source } from '../../../workflows/fanout/fanout-harness.js';
import { longFile, longPrompt, longScript, sizes } from '../../../workflows/long-inputs.js';
import { createStand, type Stand } from '../../../workflows/workflow-harness.js';

let stand: Stand;
let sandboxId: string;
beforeAll(async () => {
  stand = await createStand({ worker: { forksPerSecond: 1_000 } });
  sandboxId = await archivedSandbox(stand);
});
afterAll(() => stand.close());

type Preparation = Extract<FanoutInput['source'], { kind: 'prepare' }>;
const preparing = (over: Partial<Preparation>): Preparation => ({
  ...{ kind: 'prepare', body: {}, put: [], commands: ['true'], prompts: [], deadlineMs: 60_000, end: 'stop' },
  ...over,
});
const small = (over: Partial<FanoutItem> = {}): FanoutItem => ({ id: 'one', prompts: [{ prompt: 'hello' }], ...over });
const isThere = (input: FanoutInput) => describeFanout(stand.client, input);

describe('texts and files of a batch of 0.9 to 12 MB', () => {
  it('are used completely if client and worker share the result store', async () => {
    const prepared = preparing({
      put: sizes.map((bytes) => longFile(`source-${bytes}`, bytes)),
      prompts: sizes.map((bytes) => ({ prompt: longPrompt(bytes) })),
    });
    const input = fanoutInput(prepared, { policy: { itemDeadlineMs: 120_000, deadlineMs: 240_000 } });
    const own = sizes.map((bytes) => ({
      id: `of ${bytes}`,
      put: [longFile('own', bytes)],
      prompts: [{ prompt: longPrompt(bytes, `cat own source-${bytes} | wc -c`) }],
    }));
    await submitFanout(stand.client, input, own, stand);
    const result = await ended(stand, input);
    expect(result).toMatchObject({ outcome: 'completed', counts: { completed: sizes.length }, left: [] });
    const answers = (await lines(stand, result)).map(({ job }) => job?.prompts[0]);
    expect(answers.map((answer) => Number(answer?.result))).toEqual(sizes.map((bytes) => 2 * bytes));
    expect(answers.map((answer) => answer?.promptRef)).toEqual(
      sizes.map(() => expect.stringMatching(/^file-store:inputs/)),
    );
  }, 240_000);

  it('reach the service completely as setup scripts, which rejects scripts of that length with a reason', async () => {
    const batches = sizes.map(async (bytes) => {
      const input = fanoutInput(preparing({ body: { setupScript: longScript(bytes) }, commands: [] }));
      await submitFanout(stand.client, input, [small()], stand);
      return ended(stand, input);
    });
    for (const result of await Promise.all(batches)) {
      expect(result).toMatchObject({
        outcome: 'source_failed',
        error: { message: expect.stringContaining('The command is longer than 122880 bytes') },
        counts: { items: 1, running: 0 },
      });
    }
  }, 120_000);

  const places: readonly (readonly [
    field: string,
    of: (bytes: number) => [FanoutInput['source'] | null, FanoutItem],
  ])[] = [
    ['prompts.0.prompt', (bytes) => [null, small({ prompts: [{ prompt: longPrompt(bytes) }] })]],
    ['put.0.content', (bytes) => [null, small({ put: [longFile('own', bytes)] })]],
    ['put.0.path', (bytes) => [null, small({ put: [longFile('x'.repeat(bytes), 1)] })]],
    ['collect.0', (bytes) => [null, small({ collect: ['x'.repeat(bytes)] })]],
    ['labels.a', (bytes) => [null, small({ labels: { a: 'x'.repeat(bytes) } })]],
    ['id', (bytes) => [null, small({ id: 'x'.repeat(bytes) })]],
    ['source.body.setupScript', (bytes) => [preparing({ body: { setupScript: longScript(bytes) } }), small()]],
    ['source.body.environment', (bytes) => [preparing({ body: { environment: 'x'.repeat(bytes) } }), small()]],
    ['source.put.0.content', (bytes) => [preparing({ put: [longFile('a', bytes)] }), small()]],
    ['source.commands.0', (bytes) => [preparing({ commands: [longScript(bytes)] }), small()]],
    ['source.prompts.0.prompt', (bytes) => [preparing({ prompts: [{ prompt: longPrompt(bytes) }] }), small()]],
    ['source.from', (bytes) => [{ kind: 'snapshot', from: 'x'.repeat(bytes), body: {} }, small()]],
  ];
  it.each(places)('are refused without a result store before anything starts: %s', async (field, of) => {
    for (const bytes of sizes) {
      const [prepared, item] = of(bytes);
      const input = fanoutInput(prepared ?? source(sandboxId));
      const { taskQueue, client } = stand;
      await expect(submitFanout(client, input, [item], { taskQueue }), `${bytes}`).rejects.toMatchObject({
        code: 'bad_fanout_input',
        message: expect.stringMatching(new RegExp(`${field.replaceAll('.', '\\.')}(:| takes \\d+ bytes)`)),
      });
      await expect(isThere(input)).rejects.toMatchObject({ code: 'fanout_not_found' });
    }
  });
});

describe('items of 0.9 to 12 MB in total', () => {
  const each = 30_000;
  const many = (bytes: number) =>
    items(Math.ceil(bytes / each), () => 'true').map((item) => ({ ...item, prompts: [{ prompt: longPrompt(each) }] }));

  it('are accepted in as many chunks as they need', async () => {
    const batches = sizes.map(async (bytes) => {
      const input = fanoutInput(source(sandboxId), { policy: { concurrency: 1 } });
      const of = many(bytes);
      await submitFanout(stand.client, input, of, stand);
      await cancelFanout(stand.client, input);
      const { outcome, counts, chunks } = await ended(stand, input);
      expect({ outcome, items: counts.items, running: counts.running }).toEqual({
        outcome: 'cancelled',
        items: of.length,
        running: 0,
      });
      return chunks;
    });
    expect(await Promise.all(batches)).toEqual(sizes.map((bytes) => Math.ceil(bytes / (16 * each))));
  }, 120_000);
});

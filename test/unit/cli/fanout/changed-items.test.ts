/** What `fanout resume` makes of an item with another prompt, provider, model or effort. */
import { describe, expect, it } from 'vitest';
import { changeOf, type ItemChange } from '../../../../src/cli/fanout/changed-items.js';
import type { FanoutItem } from '../../../../src/protocol/fanout/fanout-input.js';
import { type Reading, read } from '../../fanout/read.js';

const noTexts = (): Promise<string> => Promise.reject(new Error('not read'));

/** The first item of a file, as it is sent. */
async function first(content: string, reading: Reading = {}): Promise<FanoutItem> {
  const [wish] = await read(content, reading);
  if (!wish) throw new Error('no item');
  const { place: _, put: __, ...item } = wish;
  return item;
}
const changed = (item: FanoutItem, change: Partial<ItemChange>, submitted = item, readText = noTexts) =>
  changeOf({ templates: [], ...change }, readText)(item, submitted);

const long = 'x'.repeat(500);

describe('a new template', () => {
  it('has every column of the items as they were read, also long, empty and known ones', async () => {
    const item = await first(`id,name,body,note,model\nrow-1,Ada,${long},,m1\n`, {
      format: 'csv',
      templates: ['Greet {{name}}'],
    });
    expect(item.columns).toEqual({ body: long, note: '', model: 'm1' });
    const { prompts } = await changed(item, { templates: ['{{id}} {{name}} {{body}} {{note}}{{model}}'] });
    expect(prompts).toEqual([{ prompt: `row-1 Ada ${long} m1`, model: 'm1' }]);
  });

  it('has the line of a text file, or else the prompt of the item, as it was submitted', async () => {
    const line = await first('one\n', { templates: ['Do {{prompt}}'] });
    const plain = await first('one\n');
    for (const item of [line, plain]) {
      const earlier = { ...item, prompts: [{ prompt: 'changed before' }] };
      const templates = ['{{prompt}}, briefly'];
      expect((await changed(earlier, { templates }, item)).prompts).toEqual([{ prompt: 'one, briefly' }]);
    }
  });

  it('reads a long column from the result store only if it uses it', async () => {
    const stored = { ref: 'inputs/1', bytes: 5, sha256: 'f', head: 'wh' };
    const item = { id: 'a', prompts: [{ prompt: 'old' }], columns: { body: stored } };
    expect((await changed(item, { templates: ['{{id}}'] })).prompts).toEqual([{ prompt: 'a' }]);
    const readText = async () => 'whole';
    expect((await changed(item, { templates: ['{{body}}'] }, item, readText)).prompts).toEqual([{ prompt: 'whole' }]);
  });

  it('is refused if it names a column that the item lacks, or is empty', async () => {
    const item = { id: 'a', prompts: [{ prompt: 'old' }], labels: { name: 'Ada' } };
    const made = (template: string) => changed(item, { templates: [template] });
    await expect(made('{{nam}}')).rejects.toThrow(/item a: the template uses {{nam}}.*id, prompt, name/);
    await expect(made(' ')).rejects.toThrow('item a: the template produces an empty text');
  });
});

describe('another choice', () => {
  const item: FanoutItem = {
    id: 'a',
    prompts: [{ prompt: 'p', provider: 'codex', model: 'm1', reasoningEffort: 'low' }],
    labels: { provider: 'codex', model: 'm1', effort: 'low', team: 'x' },
  };

  it('replaces that of the item and its labels; a provider drops model and effort, a model drops the effort', async () => {
    const provider = await changed(item, { provider: 'claude-code' });
    expect(provider.prompts).toEqual([{ prompt: 'p', provider: 'claude-code' }]);
    expect(provider.labels).toEqual({ provider: 'claude-code', team: 'x' });
    const model = await changed(item, { model: 'm2' });
    expect(model.prompts).toEqual([{ prompt: 'p', provider: 'codex', model: 'm2' }]);
    expect(model.labels).toEqual({ provider: 'codex', model: 'm2', team: 'x' });
    expect((await changed(item, { effort: 'high' })).prompts).toEqual([
      { prompt: 'p', provider: 'codex', model: 'm1', reasoningEffort: 'high' },
    ]);
  });

  it('adds no label to an item that is in no matrix', async () => {
    expect((await changed({ ...item, labels: { team: 'x' } }, { model: 'm2' })).labels).toEqual({ team: 'x' });
  });
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DeviationName } from '../../../../local-service/src/index.js';
import { createStand, type Stand, script } from '../../../workflows/workflow-harness.js';

type Deviations = readonly DeviationName[];
const ofPrompts: Deviations = ['A-create-fields', 'A-prompt-id', 'extra-fields', 'A-event-ids', 'A-model-names'];
const ofStops: Deviations = ['A-stop-answer', 'A-stop-read'];
const allOfThem: [string, Deviations] = ['deviates in every way', [...ofPrompts, ...ofStops, 'A-deletion-operation']];

function standOf(deviations: Deviations): () => Stand {
  let stand: Stand;
  beforeAll(async () => {
    stand = await createStand({ service: { deviations } });
  });
  afterAll(() => stand.close());
  return () => stand;
}

describe.each<[string, Deviations]>([
  ['ignores the name of a create', ['A-create-fields']],
  ['S2: sends no promptId', ['A-prompt-id']],
  ['adds fields that nobody listed', ['extra-fields']],
  allOfThem,
])('a service that %s', (_, deviations) => {
  const stand = standOf(deviations);

  it('completes the job with one sandbox and each prompt once', async () => {
    const prompts = [{ prompt: script('echo one') }, { prompt: script('echo two') }, { prompt: script('echo one') }];
    const result = await (await stand().start({ prompts })).result();
    expect(result).toMatchObject({ outcome: 'completed', stop: { status: 'completed', kept: 'saved' } });
    expect(result.prompts.map(({ result: text }) => text?.trim())).toEqual(['one', 'two', 'one']);
    expect(stand().service.books.sandboxes()).toHaveLength(1);
    expect(stand().service.books.prompts()).toHaveLength(3);
  });

  it('loses no prompt when its answer is lost', async () => {
    await stand().fault({ kind: 'drop_response', endpoint: 'sendPrompt' });
    const prompts = [{ prompt: script('echo one'), model: 'sonnet' }];
    const result = await (await stand().start({ prompts })).result();
    expect(result).toMatchObject({ outcome: 'completed', prompts: [{ status: 'completed' }] });
    expect(stand().service.books.prompts({ sandboxId: result.sandboxId ?? '' })).toHaveLength(1);
  });
});

describe.each<[string, Deviations]>([
  ['names the sandbox in its answers about stops', ofStops],
  ['names a deletion only in its operation', ['A-deletion-operation']],
  allOfThem,
])('a service that %s', (_, deviations) => {
  const stand = standOf(deviations);

  it('stops and deletes a sandbox once, by the operations of the service', async () => {
    const { books } = stand().service;
    const [stopped, deleted] = await Promise.all(
      (['stop', 'delete'] as const).map(async (end) => (await stand().start({ end })).result()),
    );
    const stopId = books.stops({ sandboxId: stopped?.sandboxId ?? '' })[0]?.id;
    expect(stopped?.stop).toMatchObject({ stopId, status: 'completed' });
    expect(deleted?.deletion).toMatchObject({ operationId: expect.stringMatching(/^del_/), status: 'completed' });
    const calls = (endpoint: string) => books.calls().filter((call) => call.endpoint === endpoint);
    expect([calls('stopSandbox'), calls('deleteSandbox')]).toMatchObject([[{}], [{}]]);
  });
});

it('fields that the specification leaves open reach the service', async () => {
  const sent: object[] = [];
  const stand = await createStand({
    through: (client) => ({
      ...client,
      createSandbox: (body, options) => {
        sent.push(body ?? {});
        return client.createSandbox(body, options);
      },
      forkSandbox: (id, body, options) => {
        sent.push(body ?? {});
        return client.forkSandbox(id, body, options);
      },
      sendPrompt: (id, body, options) => {
        sent.push(body);
        return client.sendPrompt(id, body, options);
      },
    }),
  });
  try {
    const prompts = [{ prompt: script('echo one'), temperature: 0.5 }];
    const made = await (await stand.start({ source: { kind: 'create', body: { team: 'blue' } }, prompts })).result();
    const source = { kind: 'fork', sandboxId: made.sandboxId ?? '', team: 'red' } as const;
    expect(await (await stand.start({ source, prompts })).result()).toMatchObject({ outcome: 'completed' });
    const prompt = expect.objectContaining({ temperature: 0.5 });
    const [blue, red] = ['blue', 'red'].map((team) => expect.objectContaining({ team }));
    expect(sent).toEqual([blue, prompt, red, prompt]);
  } finally {
    await stand.close();
  }
});

it('S13: a service whose lists omit a sandbox costs reads of that sandbox, and the job completes', async () => {
  const stand = await createStand({ through: (client) => ({ ...client, listAllSandboxes: async () => [] }) });
  try {
    const result = await (await stand.start({})).result();
    expect(result).toMatchObject({ outcome: 'completed', prompts: [{ status: 'completed' }] });
  } finally {
    await stand.close();
  }
});

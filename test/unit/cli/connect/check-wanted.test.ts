import { afterEach, describe, expect, it } from 'vitest';
import { checkWanted, PromptChoices, type Wanted, wantedOfJob } from '../../../../src/cli/connect/check-wanted.js';
import { failureOf } from '../../../../src/cli/errors.js';
import { aSandbox, createClosing, errorBody, sendJson, startStand } from '../../client/http-harness.js';

const closing = createClosing();
afterEach(closing.closeAll);

const catalog = {
  ok: true,
  providers: [
    {
      provider: 'codex',
      configured: true,
      models: [{ model: 'large', reasoningEfforts: ['low'] }, { model: 'plain' }],
    },
    { provider: 'claude-code', configured: false, models: [{ model: 'sonnet', reasoningEfforts: [] }] },
    { provider: 'pi', configured: true, models: [] },
  ],
};
const environments = { success: true, environments: [{ id: 'env_1', name: 'web' }] };
const limits = { ok: true, limits: { sandboxes: { used: 1, max: 10 } } };
const fresh = { kind: 'create', body: {} } as const;
type Answers = Readonly<Record<string, readonly [number, object]>>;

async function check(wanted: Partial<Wanted>, answers: Answers = {}) {
  const all: Answers = {
    '/provider-models': [200, catalog],
    '/environments': [200, environments],
    '/limits': [200, limits],
    ...answers,
  };
  const stand = closing.keep(
    await startStand(({ url = '' }, response) => {
      const [status, body] = Object.entries(all).find(([path]) => url.endsWith(path))?.[1] ?? [500, {}];
      sendJson(response, status, body);
    }),
  );
  const notices: string[] = [];
  const options = {
    service: closing.client(stand),
    signal: new AbortController().signal,
    notices: { notice: (text: string) => notices.push(text) },
  };
  const error = await checkWanted({ sources: [fresh], choices: [], ...wanted }, options).then(() => null, failureOf);
  return { message: error?.error.message ?? null, exitCode: error?.exitCode, notices, reads: stand.seen.length };
}

describe('what the service does not have is refused before the start', () => {
  const inEnvironment = (environment: string) => ({ sources: [{ kind: 'create', body: { environment } } as const] });
  it.each<[string, Partial<Wanted>, string]>([
    [
      'a provider',
      { choices: [{ provider: 'claud' }] },
      '--provider: the service has no provider claud. It has codex, ',
    ],
    [
      'a login',
      { choices: [{ provider: 'claude' }] },
      '--provider: claude has no credentials at the service. Give it ',
    ],
    [
      'a model of its provider',
      { choices: [{ provider: 'codex', model: 'sonnet' }] },
      '--model: the provider codex has no model sonnet. It has large, plain. Nothing was started. Correct it, or add',
    ],
    [
      'the effort of a model',
      { choices: [{ provider: 'codex', model: 'large', reasoningEffort: 'max' }] },
      '--effort: the model large does not accept max. It accepts: low.',
    ],
    [
      'one of several choices',
      {
        choices: [
          { provider: 'codex', model: 'large' },
          { provider: 'codex', model: 'larg' },
        ],
      },
      '--model: the provider codex has no model larg.',
    ],
    ['an environment', inEnvironment('prod'), '--environment: the service has no environment prod. It has web.'],
    [
      'the environment of an item',
      { sources: [{ kind: 'snapshot', from: 'base', body: { environment: 'prod' }, item: 'row-3' }] },
      'environment of the source of the item row-3: the service has no environment prod. It has web.',
    ],
  ])('%s', async (_, wanted, message) => {
    const seen = await check(wanted);
    expect(seen).toMatchObject({ exitCode: 2, message: expect.stringContaining(message) });
  });

  it('and nothing else, with one read for each kind of thing that is named', async () => {
    const fine = { message: null, notices: [] };
    const codex = { provider: 'codex', model: 'large', reasoningEffort: 'low' } as const;
    expect(await check({ choices: [codex, { provider: 'codex', model: 'plain' }] })).toMatchObject({
      ...fine,
      reads: 1,
    });
    expect(await check(inEnvironment('web'))).toMatchObject({ ...fine, reads: 1 });
    expect(await check(inEnvironment('env_1'))).toMatchObject({ ...fine, reads: 1 });
    // The row of `pi` lists no model, as for an agent that takes any.
    expect(await check({ choices: [{ provider: 'pi', model: 'mine', reasoningEffort: 'max' }] })).toMatchObject(fine);
    expect(await check({})).toMatchObject({ ...fine, reads: 0 });
  });

  it('asks once for each of many sources, and for their environments together', async () => {
    const sandbox = (id: string) => ({ kind: 'sandbox', sandboxId: `bx_2345678${id}`, allowStale: false }) as const;
    const made = { kind: 'snapshot', from: 'base', body: { environment: 'web' } } as const;
    const found = (id: string) =>
      [200, { ok: true, type: 'sandbox.info', sandbox: { ...aSandbox, id: `bx_2345678${id}` } }] as const;
    const answers = {
      ...Object.fromEntries(['2', '3'].map((id) => [`/sandboxes/bx_2345678${id}`, found(id)])),
      '/snapshots': [
        200,
        {
          ok: true,
          type: 'snapshot.list',
          snapshots: [{ id: 'snap_1', sandboxId: aSandbox.id, name: 'base', status: 'completed' }],
        },
      ],
    } as const;
    const sources = [sandbox('2'), sandbox('3'), sandbox('2'), made, { ...made, body: { environment: 'env_1' } }];
    expect(await check({ sources }, answers)).toMatchObject({ message: null, notices: [], reads: 4 });
    const missing = { ...made, body: { environment: 'prod' } };
    expect(await check({ sources: [...sources, missing] }, answers)).toMatchObject({
      message: expect.stringContaining('the service has no environment prod'),
    });
  });

  it.each([
    ['it may not be read', [403, errorBody(403, 'forbidden')]],
    ['it is not the service', [200, { providers: [] }]],
    ['it lists nothing', [200, { ok: true, providers: [] }]],
  ] as const)('but a catalog stops nobody if %s', async (_, answer) => {
    const answers = { '/provider-models': answer, '/environments': [403, errorBody(403, 'forbidden')] } as const;
    const wanted = { ...inEnvironment('prod'), choices: [{ provider: 'x', model: 'y' }] };
    expect(await check(wanted, answers)).toMatchObject({ message: null, notices: [] });
  });
});

it('a job wants what its source and each of its prompts name', () => {
  const source = { kind: 'existing', sandboxId: 'bx_23456789' } as const;
  const prompts = [{ prompt: 'a', model: 'm' }, { prompt: 'b', model: 'm' }, { prompt: 'c' }];
  expect(wantedOfJob({ source, prompts })).toEqual({ sources: [source], choices: [{ model: 'm' }] });
});

it('a wrong choice of a batch is refused once, with the first item that asks for it', async () => {
  const choices = new PromptChoices();
  choices.add([{ provider: 'codex', model: 'large' }], 'row-1');
  for (const id of ['row-2', 'row-3']) choices.add([{ provider: 'codex', model: 'larg' }], id);
  const { message, reads } = await check({ choices: choices.all });
  expect(message).toContain('--model: the provider codex has no model larg.');
  expect(message).toContain('The first item that asks for it is row-2. Nothing was started.');
  expect(reads).toBe(1);
});

it('more concurrent forks than the account may have are told', async () => {
  expect((await check({ concurrency: 10 })).notices).toEqual([]);
  expect((await check({ concurrency: 11 })).notices).toEqual([expect.stringContaining('10 sandboxes at once')]);
  const unlimited = { '/limits': [200, { ok: true, limits: { sandboxes: { used: 1, max: null } } }] } as const;
  expect((await check({ concurrency: 500 }, unlimited)).notices).toEqual([]);
});

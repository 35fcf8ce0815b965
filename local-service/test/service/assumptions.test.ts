import { expect, test } from 'vitest';
import { startService } from './service-under-test.js';

const header = 'x-svc-assumptions';

test('an answer lists the assumptions of its contract row and those that the call used', async () => {
  const under = await startService({ limits: { requestsPerSecond: 1_000 } });
  const id = await under.ready();
  const named = async (...call: Parameters<typeof under.call>) => (await under.call(...call)).headers.get(header);
  expect(await named('GET', '/me')).toBeNull();
  expect(await named('GET', '/sandboxes')).toBe('A-created-by, A-machine, A-paging, A-list-order');
  expect(await named('GET', '/sandboxes/bx_22222222')).toBeNull();
  expect(await named('POST', '/sandboxes', { body: { name: '' } })).toBe('A-names');
  expect(await named('DELETE', `/sandboxes/${id}`)).toBe('A-confirmation, A-error-codes');
  expect(
    await named('POST', '/webhooks', { body: { name: 'x', url: 'http://127.0.0.1:9/', events: ['sandbox.ready'] } }),
  ).toBe('A-local-webhook-urls, A-answer-types, A-webhook-record');
  expect(await named('POST', `/sandboxes/${id}/prompt`, { body: { prompt: 'x' } })).toEqual(
    expect.stringMatching(/^A-conversation, A-prompt-states, .*A-prompt-id$/),
  );
  const large = { path: 'x', content: 'x'.repeat(65 * 1024 * 1024) };
  expect(await named('PUT', `/sandboxes/${id}/files`, { body: large })).toContain('A-file-limit');
});

test('a refused stop of a sandbox that is being created names its assumption', async () => {
  const under = await startService({ timings: { bootMs: 60_000 } });
  const id = await under.create();
  const refused = await under.call('POST', `/sandboxes/${id}/stop`);
  expect(refused).toMatchObject({ status: 400, body: { code: 'machine_not_running' } });
  expect(refused.headers.get(header)).toBe('A-stop-states');
});

test('a sandbox that waits for its boot is `init`, and each answer that shows it names the assumption', async () => {
  const under = await startService({ timings: { initMs: 60_000 } });
  under.service.clock.hold();
  const created = await under.call('POST', '/sandboxes', { body: {} });
  const { id } = created.body.sandbox;
  const read = () => under.call('GET', `/sandboxes/${id}`);
  for (const { headers, body } of [created, await read()]) {
    expect([body.sandbox.state, headers.get(header)]).toEqual(['init', expect.stringContaining('A-init-state')]);
  }
  expect((await under.call('GET', '/sandboxes')).headers.get(header)).toContain('A-init-state');
  await under.service.clock.advance(60_000);
  const later = await read();
  expect(later.body.sandbox.state).toBe('provisioning');
  expect(later.headers.get(header)).not.toContain('A-init-state');
});

test('sizes, list price, creator, conversation and order of lists are named by the answers that rely on them', async () => {
  const under = await startService();
  const id = await under.ready();
  const named = async (...call: Parameters<typeof under.call>) =>
    ((await under.call(...call)).headers.get(header) ?? '').split(', ');
  expect(await named('GET', `/sandboxes/${id}`)).toEqual(expect.arrayContaining(['A-machine', 'A-created-by']));
  const list = ['A-machine', 'A-created-by', 'A-list-order'];
  expect(await named('GET', '/sandboxes')).toEqual(expect.arrayContaining(list));
  expect(await named('GET', '/sandboxes')).not.toContain('A-list-price');
  for (const path of ['/sandboxes?include=cost', `/sandboxes/${id}/usage`]) {
    expect(await named('GET', path), path).toContain('A-list-price');
  }
  const prompt = (body: object) => named('POST', `/sandboxes/${id}/prompt`, { body: { prompt: 'x', ...body } });
  expect(await prompt({})).toContain('A-conversation');
  expect(await prompt({ new: true })).not.toContain('A-conversation');
});

test('a 429 names the assumptions about its limits and its Retry-After', async () => {
  const under = await startService({ limits: { requestsPerSecond: 1 } });
  under.service.clock.hold();
  await under.call('GET', '/me');
  const refused = await under.call('GET', '/me');
  expect(refused.status).toBe(429);
  expect(refused.headers.get(header)).toBe('A-rate-limits, A-retry-after');
});

test('concurrent calls list their own assumptions only', async () => {
  const under = await startService();
  const id = await under.ready();
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      index % 2 === 0
        ? under.call('POST', `/sandboxes/${id}/commands`, { body: { command: 'true' } })
        : under.call('GET', `/sandboxes/${id}`),
    ),
  );
  expect(answers.map(({ headers }) => headers.get(header))).toEqual(
    answers.map((_, index) =>
      index % 2 === 0
        ? expect.stringContaining('A-command')
        : 'A-hosted-url, A-created-by, A-machine, A-answer-types, A-read-lag',
    ),
  );
});

test('assumptions are counted with their first request, across a restart, until a reset', async () => {
  const under = await startService();
  const first = await under.call('GET', '/sandboxes');
  await under.call('GET', '/sandboxes');
  await under.service.close();
  const again = await startService({ directory: under.directory });
  await again.call('GET', '/sandboxes');
  const touched = async () => JSON.parse((await again.call('GET', '/assumptions', { admin: true })).text).assumptions;
  await expect
    .poll(touched)
    .toMatchObject(
      ['A-list-order', 'A-paging'].map((id) => ({ id, count: 3, firstRequestId: first.headers.get('x-request-id') })),
    );
  await again.service.reset();
  expect(await touched()).toEqual([]);
});

test('event ids and names of models may have another form, and pages of the history continue after either', async () => {
  const under = await startService({ deviations: ['A-event-ids.texts', 'A-model-names'] });
  const id = await under.ready();
  const { promptId } = (await under.call('POST', `/sandboxes/${id}/prompt`, { body: { prompt: 'x', model: 'sonnet' } }))
    .body;
  const read = await under.call('GET', `/sandboxes/${id}/prompts/${promptId}`);
  expect(read.body.prompt.model).toBe('vendor/sonnet-20250514');
  expect(read.headers.get(header)).not.toContain('A-model-names');
  const page = async (query: string): Promise<string[]> => {
    const { events } = (await under.call('GET', `/sandboxes/${id}/events?limit=1${query}`)).body;
    return events.map((event: { readonly id: string }) => event.id);
  };
  const [first = ''] = await page('');
  expect(first).toMatch(/^\d+$/);
  await expect.poll(async () => (await page(`&after=${first}`)).length).toBe(1);
  expect(Number((await page(`&after=${first}`))[0])).toBeGreaterThan(Number(first));
  expect(await under.call('GET', `/sandboxes/${id}/events?after=sev_1`)).toMatchObject({ status: 400 });
});

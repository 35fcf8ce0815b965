/** A script of calls that relies on every assumption, and what its answers show. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { vi } from 'vitest';
import type { LocalService } from '../../../src/index.js';

/** What a call showed, with the same words in each run of the same service. */
export interface Step {
  readonly of: string;
  readonly shows: string;
}

const shownHeaders = ['content-type', 'content-encoding', 'link', 'location', 'retry-after', 'sunset'];
/** Fields whose values are those of this machine or of chance. */
const ofMachine =
  /^(pid|parentPid|user|cpuPercent|memoryMB|startedAt|durationMs|sizeBytes|modifiedAt|prefix|lastFour|secret|token)$/;
const bash = (text: string) => `\`\`\`sh\n${text}\n\`\`\``;

interface Options {
  readonly body?: unknown;
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly base?: string;
}

/** @param service has the key `apiKey`, a repository `acme/website`, and the logins of the test */
export async function* script(service: LocalService, apiKey: string): AsyncGenerator<Step> {
  const { clock, accounts, books } = service;
  clock.hold();
  const startMs = clock.now();
  const known = new Map<string, string>();
  const numbered = (id: string, kind: string) => {
    if (!known.has(id))
      known.set(id, `${kind}_#${[...known.keys()].filter((one) => one.startsWith(`${kind}_`)).length}`);
    return known.get(id) ?? id;
  };
  const masked = (text: string) =>
    text
      .replace(/\b(bx|stop|prm|conv|snap|del|wh|evt|sak|cmd|req|acct|team)_[0-9a-z]+/g, numbered)
      .replace(/\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, 'uuid')
      .replace(/\b\d{4}-\d\d-\d\dT[\d:.]+Z\b/g, (time) => `start + ${Math.max(-1, Date.parse(time) - startMs)} ms`)
      .replace(/\b(whsec|sk|sks|sess)_[\w-]+|_token=[^"]+|127\.0\.0\.1:\d+|localhost:\d+/g, 'masked')
      .replace(/\b[a-z]{4,5}-[a-z]{5,7}-[a-z]{4,6}(-[0-9a-z]{8})?\b/g, 'slug');
  const tell = (of: string, shown: unknown): Step => ({
    of: masked(of),
    shows: masked(JSON.stringify(shown, (name, value) => (ofMachine.test(name) ? typeof value : value))),
  });
  /** The last one that an answer has shown. */
  let secret = '';
  async function call(
    method: string,
    path: string,
    { body, key = apiKey, headers, base }: Options = {},
  ): Promise<Step> {
    const response = await fetch(`${base ?? service.url}${path}`, {
      method,
      redirect: 'manual',
      headers: {
        authorization: `Bearer ${key}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    secret = /"secret":"([^"]+)/.exec(text)?.[1] ?? secret;
    const isJson = response.headers.get('content-type')?.startsWith('application/json');
    const seen = shownHeaders.flatMap((name) =>
      response.headers.has(name) ? [[name, response.headers.get(name)]] : [],
    );
    return tell(`${method} ${path.slice(0, 60)}`, [
      response.status,
      seen,
      isJson ? JSON.parse(text) : text.slice(0, 200),
    ]);
  }
  const get = (path: string, options?: Options) => call('GET', path, options);
  const post = (path: string, body: unknown = {}, options?: Options) => call('POST', path, { body, ...options });
  const keyed = (key: string) => ({ headers: { 'idempotency-key': key } });
  const arm = (fault: object) => post('/faults', fault, { base: service.adminUrl });
  const latest = () => books.sandboxes().at(-1)?.id ?? '';
  const patient = { timeout: 60_000, interval: 5 };
  const ended = () =>
    vi.waitFor(() => {
      if (books.prompts().some(({ endedAt }) => endedAt === null)) throw new Error('A prompt runs.');
    }, patient);
  /** A boot, an archival or a deletion. */
  const settle = () => clock.advance(2_000);
  const session = accounts.createSession('acct_local');

  yield await get('/me', { headers: { 'user-agent': '' } });
  for (const path of ['/environments', '/provider-models', '/limits', '/account/data-retention', '/repos'])
    yield await get(path);
  yield await get('/sandboxes/bx_22222222');
  yield await arm({ kind: 'error', endpoint: 'getMe', status: 429, retryAfterSeconds: 5 });
  yield await get('/me');

  // A sandbox, and its key.
  const wanted = { name: 'of-the-script', ttlSeconds: 600 };
  yield await post('/sandboxes', wanted, keyed('one'));
  yield await post('/sandboxes', { ...wanted, monitoring: false }, keyed('one'));
  yield await post('/sandboxes', { name: 'x'.repeat(60) });
  yield await post('/sandboxes', { ttlSeconds: 60 }, keyed('30b6a1d0-0000-4000-8000-000000000000'));
  const [{ id } = { id: '' }] = books.sandboxes();
  const of = `/sandboxes/${id}`;
  yield await post(`${of}/stop`, undefined);
  await settle();
  yield await get(of);
  await clock.advance(8_000);
  yield await call('PATCH', of, { body: { ttlSeconds: 600 } });

  // Work.
  for (const body of [{ prompt: bash('echo one'), model: 'sonnet' }, { prompt: bash('echo two') }]) {
    yield await post(`${of}/prompt`, body);
    await ended();
  }
  const prompt = `${of}/prompts/${known.get('prm_1') ?? books.prompts()[0]?.id}`;
  yield await get(prompt);
  yield await get(`${of}/events`);
  yield await get(of);
  yield await post(`${of}/prompt`, { prompt: bash('sleep 60') });
  yield await get(of);
  yield await post(`${of}/interrupt`);
  await ended();
  yield await post(`${of}/prompt`, { prompt: 'x', provider: 'pi' });
  yield await call('PUT', `${of}/files`, { body: { path: 'kept.txt', content: 'kept' } });
  yield await get(`${of}/files?path=kept.txt`);
  yield await get(`${of}/artifacts?path=kept.txt`);
  yield await call('PUT', `${of}/files`, { body: { path: 'large.txt', content: 'x'.repeat(2 * 1024 * 1024) } });
  yield await post(`${of}/commands`, { command: 'mkdir -p made && ls' });
  yield await post(`${of}/desktop`);
  yield await post(`${of}/sshkey`, {
    publicKey: 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f a',
  });
  await clock.advance(60_000);
  yield await get(`${of}/usage`);

  // Stops, snapshots and forks.
  yield await post(`${of}/fork`, { name: 'of-usable' });
  yield await post(`${of}/stop`);
  yield await get(of);
  yield await post(`${of}/resume`);
  await settle();
  yield await post(`${of}/stop`);
  yield await get(`${of}/stops/${books.stops().at(-1)?.id}`);
  await settle();
  yield await post(`${of}/fork`, { name: 'of-archived' });
  const conversation = books.prompts()[0]?.conversationId;
  const fork = `/sandboxes/${latest()}`;
  await settle();
  yield await post(`${fork}/prompt`, { prompt: bash('true'), conversationId: conversation });
  await ended();
  yield await call('PATCH', of, { body: { snapshotName: 'of-the-script' } });
  yield await get('/snapshots');
  yield await get(`${of}/snapshots`);
  const snapshotId = () => books.sandboxes({ sandboxId: id })[0]?.snapshotId ?? '';
  yield await get(`/snapshots/${snapshotId()}/tree`);
  yield await post(`${of}/resume`);
  await settle();
  yield await call('PUT', `${of}/files`, { body: { path: 'more.txt', content: 'more' } });
  await call('POST', `${of}/stop`);
  await settle();
  yield await get(`${of}/snapshots`);
  const last = snapshotId();
  yield await call('DELETE', `/snapshots/${last}`);
  yield await call('DELETE', `/snapshots/${last}`, { headers: { 'x-svc-confirm-delete': last } });
  yield await get(of);
  yield await post('/sandboxes', { noEnv: true, monitoring: false });
  const bare = `/sandboxes/${latest()}`;
  await settle();
  await post(`${bare}/stop`);
  await settle();
  yield await get(`${bare}/processes`);
  yield await get('/sandboxes');
  yield await get('/sandboxes?limit=1');

  // The ends of keys.
  yield await call('DELETE', of, { headers: { 'x-svc-confirm-delete': id } });
  await settle();
  yield await post('/sandboxes', wanted, keyed('one'));
  await arm({ kind: 'create_cancelled' });
  for (let times = 0; times < 2; times += 1) {
    yield await post('/sandboxes', { noEnv: true }, keyed('two'));
    await settle();
  }

  // What environments pass.
  const environment = `/environments/${String(service.setup.createEnvironment({ name: 'coding' }).id)}`;
  const all = { passSecrets: true, passRepoHost: true, passSandboxCredentials: true, passAgentsCredentials: true };
  for (const body of [all, all, { envContents: 'KEPT=kept' }, { secretFiles: [{ path: 'kept.txt', contents: 'x' }] }])
    yield await call('PUT', environment, { body });
  yield await call('PUT', environment, { body: { isDefault: true } });
  yield await post('/repos', { fullName: 'acme/website' });
  yield await post('/secrets', { set: { SECRET: 'x' } });
  yield await post('/sandboxes', {});
  const coding = `/sandboxes/${latest()}`;
  await settle();
  for (const command of ['ls', 'echo $KEPT', 'echo $SANDBOX_REPO_LOGIN', 'echo $' + '{SANDBOX_API_KEY:+given}'])
    yield await post(`${coding}/commands`, { command });
  await post(`${coding}/prompt`, { prompt: 'x', provider: 'claude-code' });
  await ended();
  yield tell('the prompt of a provider with a login', books.prompts().at(-1)?.result);
  yield await post(`${environment}/upgrade`);

  // Keys of the API.
  yield await post('/api-keys/scoped', { name: 'of-account' });
  yield await post('/api-keys/scoped', { name: 'of-preset', preset: 'ci' }, { key: session });
  yield await get('/api-keys');
  const key = `/api-keys/${[...known.keys()].findLast((one) => one.startsWith('sak_'))}`;
  yield await get(`${key}/usage`);
  yield await post(`${key}/rotate`, undefined, { key: session });
  const other = String(service.setup.createEnvironment({ name: 'other' }).id);
  await post('/api-keys/scoped', { name: 'limited', actions: ['environment.write'], environments: [other] });
  yield await call('PUT', `/environments/${other}`, { body: { passSecrets: true }, key: secret });

  // Webhooks.
  const events: unknown[] = [];
  const receiver = createServer((request, response) => {
    events.push(request.headers['x-svc-event'] ?? request.headers['x-box-event']);
    request.resume();
    response.writeHead(500).end();
  });
  await new Promise<void>((listening) => void receiver.listen(0, '127.0.0.1', listening));
  try {
    const { port } = receiver.address() as AddressInfo;
    yield await post('/webhooks', { name: 'x', url: `http://127.0.0.1:${port}/`, events: ['sandbox.archived'] });
    await post(`${coding}/stop`);
    await clock.advance(2_000);
    yield tell('deliveries', events);
    yield await get('/webhooks');
  } finally {
    receiver.close();
  }

  // The legacy surface, other people, and a late call.
  yield await get('/me', { base: service.legacyUrl });
  const [ann, ben, cy] = ['ann', 'ben', 'cy'].map(
    (login) => accounts.create({ login, billingRequired: login === 'cy' }).apiKey,
  );
  accounts.createTeam({ name: 'Acme', members: ['ann', 'ben'] });
  yield await post('/sandboxes', {}, { key: cy ?? '' });
  await post('/sandboxes', {}, { key: ann ?? '' });
  const private_ = `/sandboxes/${latest()}`;
  await settle();
  yield await get(`${private_}/events`, { key: ben ?? '' });
  await post(`${private_}/stop`, undefined, { key: ann ?? '' });
  await settle();
  yield await get('/snapshots', { key: ben ?? '' });
  yield await post(`${private_}/share`, undefined, { key: ann ?? '' });
  await arm({ kind: 'accept_late', endpoint: 'updateSandbox', ms: 0 });
  await call('PATCH', fork, { body: { name: 'renamed' } }).catch(() => undefined);
  const renamed = () => vi.waitUntil(() => books.sandboxes({ name: 'renamed' }).length > 0, { timeout: 5_000 });
  yield tell('a call without an answer', await renamed().catch(() => false));
}

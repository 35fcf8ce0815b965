import { existsSync, statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { createLocalService } from '../../../local-service/src/index.js';
import * as sandflow from '../../../src/index.js';
import { deliveryHeadersFor, notificationHeaders } from '../../../src/webhook/index.js';
import { tryOut } from './snippets/local-service.js';
import { serve } from './snippets/mount-bridge.js';
import { work } from './snippets/own-worker.js';
import { review } from './snippets/start-job.js';
import { stopForGood } from './snippets/stop-sandbox.js';
import { isGenuine } from './snippets/verify-delivery.js';
import { readNotification } from './snippets/verify-notification.js';
import { readSource, repository, sourceFiles } from './source-imports.js';

interface Entry {
  readonly types: string;
  readonly default: string;
}

const entries = Object.entries(
  (JSON.parse(readSource('package.json')) as { exports: Record<string, Entry | string> }).exports,
).filter((entry): entry is [string, Entry] => typeof entry[1] !== 'string');
const changedAtMs = (path: string) => statSync(join(repository, path)).mtimeMs;
/** False also if the sources are newer than the build. */
const isBuilt =
  existsSync(join(repository, 'dist', 'workflow-bundle.js')) &&
  ['package.json', ...sourceFiles('src', 'workflows', 'activities')].every(
    (path) => changedAtMs(path) <= changedAtMs('dist/workflow-bundle.js'),
  );
const directories: string[] = [];

afterEach(async () => {
  for (const directory of directories.splice(0)) await rm(directory, { recursive: true, force: true });
});

describe('entries of the package', () => {
  test.each(entries)('%s has a source', (_, { types, default: file }) => {
    const source = file.replace('./dist/', '').replace(/\.js$/, '.ts');
    expect(existsSync(join(repository, source))).toBe(true);
    expect(types).toBe(file.replace(/\.js$/, '.d.ts'));
  });

  test.each(entries)('%s is in docs/library.md', (name) => {
    expect(readSource('docs/library.md')).toMatch(new RegExp(`['\`]${name.replace('.', 'sandflow')}['\`]`));
  });

  // `npm run check` and `npm test` build first; a test that runs alone may find an old build, or none.
  test.skipIf(!isBuilt).each(entries)('%s of the build loads and exports what its source does', async (_, entry) => {
    const source = entry.default.replace('./dist/', '').replace(/\.js$/, '.ts');
    const built = await import(pathToFileURL(join(repository, entry.default)).href);
    const written = await import(pathToFileURL(join(repository, source)).href);
    expect(existsSync(join(repository, entry.types))).toBe(true);
    expect(Object.keys(built).sort()).toEqual(Object.keys(written).sort());
    expect(Object.keys(built).length).toBeGreaterThan(0);
  });
});

describe('snippets of docs/library.md', () => {
  test('the local service creates a sandbox and stores a file in it', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'sandflow-snippet-'));
    directories.push(directory);
    expect(await tryOut(directory)).toBe('hello');
  });

  test('a delivery is genuine only with its secret', () => {
    const rawBody = Buffer.from('{}');
    const parts = { secret: 'whsec_a', deliveryId: 'd1', timestamp: Math.floor(Date.now() / 1_000), rawBody };
    const headers = deliveryHeadersFor({ ...parts, event: 'sandbox.ready' });
    expect(isGenuine(headers, rawBody, 'whsec_a')).toBe(true);
    expect(isGenuine(headers, rawBody, 'whsec_b')).toBe(false);
  });

  test('a notification is read once, and only with its secret', () => {
    const [secret = '', other = ''] = ['a', 'b'].map((of) => `whsec_${Buffer.from(of.repeat(32)).toString('base64')}`);
    const rawBody = Buffer.from('{"event":"ended","outcome":"completed"}');
    const timestamp = Math.floor(Date.now() / 1_000);
    const headers = notificationHeaders({ secrets: [secret], id: 'msg_1', timestamp, rawBody });
    const had = new Set<string>();
    expect(readNotification(headers, rawBody, other, had)).toBeUndefined();
    expect(readNotification(headers, rawBody, secret, had)).toEqual({ event: 'ended', outcome: 'completed' });
    expect(readNotification(headers, rawBody, secret, had)).toBeUndefined();
  });

  test('a snippet that finds no Temporal server says how to start one', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'sandflow-snippet-'));
    directories.push(directory);
    const environment = { SANDFLOW_HOME: directory, TEMPORAL_ADDRESS: '', TEMPORAL_CONFIG_FILE: '' };
    for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
    await expect(review('one')).rejects.toThrow('Start it with `sandflow up`, or set TEMPORAL_ADDRESS');
    await expect(stopForGood('bx_2345abcd', 'one')).rejects.toMatchObject({ code: 'temporal_unreachable' });
    vi.unstubAllEnvs();
    const config = { ...sandflow.readConfig({ TEMPORAL_ADDRESS: 'temporal:7233' }), home: directory };
    expect(await sandflow.findTemporal(config)).toBe(config.temporal.connect);
  });

  test('snippets that need a Temporal server load and do nothing before they are called', () => {
    expect([serve, work, review].map((snippet) => typeof snippet)).toEqual(['function', 'function', 'function']);
  });
});

describe('an entry point that lacks an option, or has one of the wrong kind, names it', () => {
  const object = {} as never;
  const none = undefined as never;
  const worker = { connection: object, client: object, results: object, taskQueue: 'q' };
  const calls: readonly (readonly [option: string, call: () => unknown])[] = [
    ['results', () => sandflow.createSandflowWorker({ ...worker, results: none })],
    ['taskQueue', () => sandflow.createSandflowWorker({ ...worker, taskQueue: 7 as never })],
    ['taskQueue', () => sandflow.createActivities({ client: object, results: object } as never)],
    ['client', () => sandflow.createForkActivities(none)],
    ['results', () => sandflow.createFollowActivities({ ...worker, results: none })],
    ['temporalClient', () => sandflow.createBridge(none)],
    ['secrets', () => sandflow.createBridge({ temporalClient: object, secrets: ['whsec_x'] as never })],
    ['file', () => sandflow.createSecretSource({ fixed: [] } as never)],
    ['url', () => sandflow.ensureWebhook(object, { name: 'n', secretFile: 'f' } as never)],
    ['baseUrl', () => sandflow.createSandboxClient({ apiKey: 'k' } as never)],
    ['apiKey', () => sandflow.createSandboxClient({ baseUrl: 'http://127.0.0.1:1', apiKey: none })],
    ['place', () => sandflow.createResultStore(none)],
    ['place', () => sandflow.createSecretStore(7 as never)],
    ['file', () => sandflow.createNotifySecrets(none)],
    ['ring', () => sandflow.createPayloadCodec(none)],
    ['origins', () => sandflow.createCodecServer({ codec: object, token: 'a-token' } as never)],
    ['target', () => sandflow.connectTemporal(none)],
    ['address', () => sandflow.connectWorker({} as never)],
    ['taskQueue', () => sandflow.startJob(object, object, none)],
    ['taskQueue', () => sandflow.rerunJob(object, object, { newJobId: 'a' } as never)],
    ['client', () => sandflow.submitFanout(none, object, [], { taskQueue: 'q' })],
    ['items', () => sandflow.submitFanout(object, object, none, { taskQueue: 'q' })],
    ['taskQueue', () => sandflow.resumeFanout(object, object, none)],
    ['taskQueue', () => sandflow.requestStop(object, object, none)],
    ['policy', () => sandflow.startCleanup(object, { taskQueue: 'q' } as never)],
    ['work', () => sandflow.putSchedule(object, { taskQueue: 'q', times: object } as never)],
    ['items', () => sandflow.scheduledBatch(object, object, none, object)],
    ['directory', () => createLocalService({ apiKey: 'k' } as never)],
  ];
  test.each(calls)('%s: %s', async (option, call) => {
    await expect((async () => call())()).rejects.toMatchObject({
      code: 'bad_argument',
      message: expect.stringMatching(new RegExp(`^${option} is (?:missing|of the wrong kind): it must be `)),
    });
  });
});

/** Results of forgotten jobs: the command and the part of a cleanup, on a real Temporal. Tier: gate; costs 5 CPU s. */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { encryptResults, newKeyLine, parseKeyRing } from '../../../src/encryption/index.js';
import { createResultStore, type DatedObject, type ResultStore } from '../../../src/result-store/index.js';
import { readPolicy } from '../../../src/retention/index.js';
import { startCleanup } from '../../../src/workflow-client/cleanups/cleanup-client.js';
import { markNamespace, removeForgotten } from '../../../src/workflow-client/cleanups/forgotten-results.js';
import { resumeFanout } from '../../../src/workflow-client/fanouts/resume-fanout.js';
import { cli as runCli } from '../../unit/cli/in-process.js';
import { useBucketAt } from '../../unit/s3/aws-settings.js';
import { createFakeS3 } from '../../unit/s3/fake-s3.js';
import { createStand, type Stand } from '../workflow-harness.js';

let stand: Stand;
let home: string;
let results: ResultStore;
let deployment: string;
let names = 0;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'sandflow-forgotten-'));
  results = createResultStore(join(home, 'results'));
  stand = await createStand({ worker: { results } });
});
afterAll(async () => {
  await stand.close();
  await rm(home, { recursive: true });
});
beforeEach(() => {
  names += 1;
  deployment = `f${stand.taskQueue.replace(/[^a-z0-9]/g, '').slice(-7)}${names}`;
});

const cli = (...args: string[]) =>
  runCli(['store', 'clean', ...args], {
    cwd: home,
    env: {
      SANDBOX_API_URL: stand.service.url,
      SANDBOX_API_KEY: 'test-key',
      TEMPORAL_ADDRESS: inject('temporalAddress'),
      SANDFLOW_TASK_QUEUE: stand.taskQueue,
      SANDFLOW_DEPLOYMENT: deployment,
      SANDFLOW_HOME: home,
      SANDFLOW_RESULTS: join(home, 'results'),
    },
  });
const remove = (options: Partial<Parameters<typeof removeForgotten>[2]> = {}, store = results) =>
  removeForgotten(stand.client, store, {
    ...{ deployment, olderThanMs: undefined, maxFolders: 100, maxPercent: 100, dryRun: false },
    ...{ signal: new AbortController().signal, ...options },
  });

const dayMs = 86_400_000;

/** Stores an object of a job, written so many days ago. @returns its key */
async function stored(folder: string, days: number, run: string = randomUUID()): Promise<string> {
  const key = `${folder}/${run}/results/0.txt`;
  await results.put(key, Buffer.from('answer'));
  const at = new Date(Date.now() - days * dayMs);
  await utimes(join(home, 'results', key), at, at);
  return key;
}
const idOf = (job: string) => `sf-${deployment}-${job}`;
/** A job that Temporal knows, and that no worker runs. */
const known = (workflowId: string) =>
  stand.client.workflow.start('createThenPrompt', { workflowId, taskQueue: 'nobody-takes-these', args: [] });
const isThere = async (key: string) => (await results.find(key)) !== null;
const mark = () => markNamespace(stand.client, results, deployment);
/** A young job that Temporal knows, which shows that it is the right Temporal. */
async function young(): Promise<void> {
  await mark();
  await known(idOf('young'));
  await stored(idOf('young'), 0);
}

describe('sandflow store clean', () => {
  it('shows, asks, and removes what Temporal has forgotten, and nothing else', async () => {
    await young();
    const gone = [
      await stored(idOf('gone'), 40),
      await stored(`fanout/${idOf('batch')}`, 40),
      await stored(`${idOf('batch')}/i0`, 40),
    ];
    const kept = [
      await stored(idOf('recent'), 20),
      await stored(idOf('open'), 40),
      await stored('sf-other-job', 40),
      await stored(`notes-${deployment}`, 40),
      await stored(`${idOf('parts')}`, 40),
    ];
    await known(idOf('open'));
    await known(idOf('recent'));
    await known(`${idOf('parts')}/i3`);
    const query = `WorkflowId STARTS_WITH '${idOf('parts')}/'`;
    await expect.poll(async () => (await stand.client.workflow.count(query)).count).toBe(1);
    await results.put(`${idOf('mixed')}/notes.txt`, Buffer.from('of a person'));
    kept.push(await stored(idOf('mixed'), 40));

    const shown = await cli('--dry-run');
    expect(shown).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('3 of 8 folders due (18 bytes)') });
    expect(shown.stdout).toContain(`${idOf('gone')}/  1 object, 6 bytes\n`);
    const inJson = JSON.parse((await cli('--dry-run', '--json')).stdout);
    expect(inJson).toMatchObject({ folders: 8, due: 3, removed: 0, bytes: 18, problem: null, error: null });
    expect(await cli()).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('Remove 3 folders? Confirm with --yes'),
    });
    for (const key of [...gone, ...kept]) expect(await isThere(key), key).toBe(true);

    const limited = await cli('--yes', '--max', '1', '--json');
    expect(JSON.parse(limited.stdout)).toMatchObject({ removed: 1, objects: 1, bytes: 6, problem: null, error: null });
    expect(await cli('--yes')).toMatchObject({
      exitCode: 0,
      stderr: expect.stringContaining('2 of 7 folders removed'),
    });
    for (const key of gone) expect(await isThere(key), key).toBe(false);
    for (const key of kept) expect(await isThere(key), key).toBe(true);
    expect(await cli('--yes')).toMatchObject({
      exitCode: 0,
      stderr: expect.stringContaining('0 of 5 folders removed'),
    });
  });

  it('refuses an age at which Temporal may still know the jobs', async () => {
    await young();
    expect(await cli('--older-than', '1d')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('at least a day longer'),
    });
  });

  it('refuses for another namespace, without its own mark, and if Temporal knows too few of the young jobs', async () => {
    const old = await stored(idOf('old'), 40);
    expect((await cli('--yes')).stderr).toContain('no worker of this Temporal namespace has used this store');
    await mark();
    expect((await cli('--yes')).stderr).toContain('no job is so young');
    for (const job of ['a', 'b', 'c']) await stored(idOf(job), 0);
    await known(idOf('a'));
    expect((await cli('--yes')).stderr).toContain('Temporal knows only 1 of the 3 newest');
    for (const job of ['b', 'c']) await known(idOf(job));
    const other = `namespaces/${deployment}/${randomUUID()}`;
    const { ref } = await results.put(other, Buffer.from('other'));
    expect(await cli('--yes')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining(`remove the object ${other}`),
    });
    expect(await isThere(old)).toBe(true);
    for await (const object of results.listEach?.(other) ?? []) if (object.ref === ref) await results.remove?.(object);
    expect((await cli('--yes')).exitCode).toBe(0);
    expect(await isThere(old)).toBe(false);
  });
});

describe('a removal', () => {
  it('leaves what a job of the same id writes meanwhile, and a job that has started since', async () => {
    await young();
    const [late, started] = [await stored(idOf('late'), 40), await stored(idOf('started'), 40)];
    let newer = '';
    const onDue = async () => {
      newer = await stored(idOf('late'), 0);
      await known(idOf('started'));
    };
    expect(await remove({ onDue })).toMatchObject({ removed: 1, objects: 1, problem: null });
    expect([await isThere(late), await isThere(newer), await isThere(started)]).toEqual([false, true, true]);
  });

  it('counts what fails, tells why, and goes on', async () => {
    await young();
    for (const job of ['a', 'b', 'c']) await stored(idOf(job), 40);
    const asked: string[] = [];
    const failing: ResultStore = {
      ...results,
      async remove(object: DatedObject) {
        asked.push(object.key);
        if (asked.length === 1) throw new Error('the disk is read-only');
        return (await results.remove?.(object)) ?? false;
      },
    };
    expect(await remove({ maxFolders: 2 }, failing)).toMatchObject({ removed: 1, problem: 'the disk is read-only' });
    expect(asked).toHaveLength(2);
  });

  it('asks about no job from the future, and counts no folder of which nothing went', async () => {
    await young();
    await stored(idOf('future'), -400);
    const key = await stored(idOf('a'), 40);
    const at = new Date();
    const onDue = () => utimes(join(home, 'results', key), at, at);
    expect(await remove({ onDue })).toMatchObject({ folders: 3, removed: 0, objects: 0, problem: null });
    expect(await isThere(key)).toBe(true);
  });

  it('says what the store does not remove', async () => {
    await young();
    const key = await stored(idOf('a'), 40);
    const { removed, problem } = await remove({}, { ...results, remove: async () => false });
    expect(removed).toBe(0);
    expect(problem).toContain(`${idOf('a')}/: the store did not remove 1`);
    expect(await isThere(key)).toBe(true);
  });

  it('of two at once removes everything once', async () => {
    await young();
    const keys = await Promise.all(['a', 'b', 'c', 'd'].map((job) => stored(idOf(job), 40)));
    const both = await Promise.all([remove(), remove()]);
    expect(both.map(({ problem }) => problem)).toEqual([null, null]);
    for (const key of keys) expect(await isThere(key)).toBe(false);
    expect(await isThere(await stored(idOf('a'), 0))).toBe(true);
  });

  it('is the same in a bucket that is encrypted', async () => {
    let ageMs = 40 * dayMs;
    const fake = await createFakeS3({ nowMs: () => Date.now() - ageMs });
    useBucketAt(fake.endpoint);
    const store = encryptResults(createResultStore(`s3://results/${deployment}`), parseKeyRing(newKeyLine('k')));
    const put = (job: string, name: string) => store.put(`${idOf(job)}/${randomUUID()}/${name}`, Buffer.from('secret'));
    for (const name of ['a', 'b', 'c', 'd']) await put('gone', name);
    await put('open', 'a');
    ageMs = 0;
    await put('young', 'a');
    for (const job of ['open', 'young']) await known(idOf(job));
    await markNamespace(stand.client, store, deployment);
    expect(await remove({}, store)).toMatchObject({ folders: 3, removed: 1, objects: 4, problem: null });
    const left = await store.list('');
    expect(
      left
        .filter(({ key }) => key.startsWith('sf-'))
        .map(({ key }) => key.split('/')[0])
        .sort(),
    ).toEqual([idOf('open'), idOf('young')]);
    await fake.close();
  });

  it('ends with its signal, and says so; a store without its methods is refused', async () => {
    await young();
    const old = await stored(idOf('a'), 40);
    const over = new AbortController();
    const ended = remove({ signal: over.signal, onDue: async () => over.abort(new Error('The time is over')) });
    expect(await ended).toMatchObject({ removed: 0, problem: 'The time is over' });
    const { remove: _, ...without } = results;
    await expect(remove({}, without)).rejects.toThrow('this store has no `listEach` and `remove`');
    expect(await isThere(old)).toBe(true);
  });
});

describe('a cleanup', () => {
  async function clean(mode: 'plan' | 'apply', more = 'resultsOlderThan: 31d\nlimits: {maxPercent: 50}') {
    const policy = readPolicy(
      `name: ${deployment}\n${more}\nrules: [{rule: none, match: {name: nobody}, action: keep}]`,
      'test',
    );
    const { client, taskQueue } = stand;
    const handle = await startCleanup(client, { deployment, taskQueue, policy, mode, settings: { settleMs: 0 } });
    return handle.result();
  }

  it('removes them by its policy, within its limit in percent, and only then', async () => {
    await young();
    const keys = await Promise.all(['a', 'b', 'c', 'd'].map((job) => stored(idOf(job), 40)));
    const count = async () => (await Promise.all(keys.map(isThere))).filter(Boolean).length;
    expect(await clean('apply', '')).not.toHaveProperty('results');
    expect(await clean('plan')).toMatchObject({
      outcome: 'planned',
      results: { folders: 5, removed: 2, problem: null },
    });
    expect(await count()).toBe(4);
    expect(await clean('apply')).toMatchObject({
      outcome: 'applied',
      results: { folders: 5, removed: 2, problem: null },
    });
    expect(await count()).toBe(2);
  });

  it('does the rest although the removal is refused, and reports why', async () => {
    await stored(idOf('old'), 40);
    const { outcome, reportRef, results: removal } = await clean('apply');
    expect({ outcome, removal }).toMatchObject({
      outcome: 'applied',
      removal: { removed: 0, problem: expect.stringContaining('no worker of this Temporal namespace') },
    });
    expect((await results.get(reportRef ?? '')).toString()).toContain('no worker of this Temporal namespace');
  });
});

it('a resume of a batch whose items are gone is refused', async () => {
  const workflowId = idOf('lost');
  const start = {
    workflowId,
    taskQueue: 'nobody-takes-these',
    args: [{}],
    memo: { counts: { completed: 1, items: 2 } },
  };
  const handle = await stand.client.workflow.start('forkFanout', start);
  await handle.terminate();
  const resumed = resumeFanout(stand.client, { deployment, batchId: 'lost' }, { taskQueue: stand.taskQueue, results });
  await expect(resumed).rejects.toThrow('The result store no longer has the items of the batch "lost"');
});

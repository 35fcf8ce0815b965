/**
 * Jobs, a batch and a night's cleanup on two hosts that share Temporal and a bucket, and nothing else. Tier: slow, 110 CPU s.
 */
import proto from '@temporalio/proto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { itemStep, jobWorkflowId, parseOwnedSandboxName } from '../../../../src/addresses/addresses.js';
import type { ItemResult } from '../../../../src/protocol/fanout/fanout-result.js';
import { shell, worksUntilReleased } from '../../../e2e/stack/fixture.js';
import { noHosts } from './host.js';
import { createHosts, deployment, type Hosts } from './hosts.js';

/** Tries to open each path and each address, and tells which it could. */
const tries = `
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
const opened = [];
const [, ...given] = process.argv;
for (const path of given.filter((one) => one.startsWith('/'))) {
  try { readFileSync(path); opened.push(path); } catch (error) { if (error.code !== 'ENOENT') opened.push(path + ' ' + error.code); }
}
for (const address of given.filter((one) => /^[\\d.]+:/.test(one))) {
  const [host, port] = address.split(':');
  const socket = connect({ host, port: Number(port), timeout: 2000 });
  const end = await new Promise((resolve) => {
    for (const event of ['connect', 'error', 'timeout']) socket.once(event, () => resolve(event));
  });
  socket.destroy();
  if (end === 'connect') opened.push(address);
}
console.log(JSON.stringify(opened));
`;

const heartbeat = proto.temporal.api.enums.v1.TimeoutType.TIMEOUT_TYPE_HEARTBEAT;

/** The first items fail until they get another prompt. */
const failing = 3;
const answering = (id: string) => shell(`sleep 1; echo answer of ${id} | tee out.txt`);
const items = Array.from({ length: 30 }, (_, at) => {
  const id = `row-${at}`;
  return { id, prompt: at < failing ? shell('exit 1') : answering(id) };
});

const partsOf = (name: string, batchId: string) => {
  const parts = parseOwnedSandboxName(name);
  return parts?.jobId === batchId ? parts : undefined;
};

describe.skipIf(noHosts)(
  `hosts without a common disk${noHosts ? `, skipped because ${noHosts}` : ''}`,
  { timeout: 1_200_000 },
  () => {
    let made: Hosts | string;
    let hosts: Hosts;
    beforeAll(async () => {
      made = await createHosts();
      if (typeof made !== 'string') hosts = made;
    });
    beforeEach((context) => {
      if (typeof made === 'string') context.skip(made);
    });
    afterAll(() => hosts?.close());

    it('open no file of each other, and reach nothing but their gateways', async () => {
      const { a, b, third } = hosts;
      for (const host of [a, b, third]) {
        host.write('own', 'own');
        const others = [a, b, third].filter((other) => other !== host);
        const own = ['/srv/host/own', `${host.gateway}:7233`];
        const foreign = others.flatMap(({ folder, address }) => [`${folder}/own`, `${address}:7392`]);
        const { stdout, stderr } = await host.script(tries, [...own, ...foreign]);
        expect(JSON.parse(stdout || 'null'), stderr).toEqual(own);
      }
    });

    it('a job whose worker is killed goes on on the other host, and a third place collects all of it', async () => {
      const { a, b, third, service, api } = hosts;
      await b.kill('worker');
      const setup =
        'git init --quiet app && cd app && git -c user.name=a -c user.email=a@example.com commit --quiet --allow-empty -m a';
      const prompt = `${worksUntilReleased}\n${shell('echo a line > app/note.txt; echo a report > report.md')}`;
      const job = [
        'run',
        prompt,
        '--id',
        'moved',
        '--setup',
        setup,
        '--get',
        'report.md',
        '--get-diff=app',
        '--detach',
      ];
      await a.done(job);
      await expect.poll(() => service.books.prompts().map(({ status }) => status)).toEqual(['running']);
      await b.start('worker');
      await a.kill('worker');
      const [sandbox] = service.books.sandboxes();
      await api.writeFile(sandbox?.id ?? '', { path: 'go', content: '' });

      // What is read needs Temporal and the bucket, and not the service.
      const withoutService = { SANDBOX_API_URL: `http://${third.gateway}:1/v1`, SANDFLOW_PATIENCE_SECONDS: '20' };
      const watched = await third.done(
        ['jobs', 'watch', 'moved', '--json', '--get', 'report.md', '--get', 'changes.patch'],
        withoutService,
      );
      expect(JSON.parse(watched)).toMatchObject({
        outcome: 'completed',
        prompts: [{ status: 'completed', result: 'through\n' }],
        stop: { kept: 'saved' },
        left: [],
      });
      expect(third.read('report.md')).toBe('a report\n');
      expect(third.read('changes.patch')).toContain('+a line');
      expect(await third.done(['jobs', 'logs', 'moved'], withoutService)).toContain('through');
      expect(service.books.sandboxes()).toHaveLength(1);
      expect(service.books.prompts()).toHaveLength(1);
      expect(await workersOf(jobWorkflowId(deployment, 'moved'))).toEqual(['1@host-a', '1@host-b']);
      await a.start('worker');
    });

    it('a batch loses and doubles nothing while a host is cut off and the other one is killed, and is resumed from a third place', async () => {
      const { a, b, third, service } = hosts;
      a.write('items.jsonl', items.map((item) => `${JSON.stringify(item)}\n`).join(''));
      await a.done(['fanout', 'items.jsonl', '--id', 'batch', '--concurrency', '6', '--get', 'out.txt', '--detach']);
      const forks = () => service.books.sandboxes().filter(({ name }) => /^i/.test(partsOf(name, 'batch')?.step ?? ''));
      const promptsIn = (id: string) => service.books.prompts({ sandboxId: id }).length;
      const prompted = () => forks().filter(({ id }) => promptsIn(id) > 0).length;
      await expect.poll(prompted).toBeGreaterThan(items.length / 4);
      a.link('down');
      // Longer than a heartbeat: B has taken over what A had begun.
      await expect.poll(missedHeartbeats).toBeGreaterThan(0);
      await expect.poll(prompted).toBeGreaterThan(items.length / 2);
      a.link('up');
      await b.kill('worker');
      await b.start('worker');

      const ended = await third.run(['fanout', 'watch', 'batch', '--json', '--get', 'out.txt:out.txt']);
      expect(JSON.parse(ended.stdout), ended.stderr).toMatchObject({
        outcome: 'partly_failed',
        counts: { completed: items.length - failing, failed: failing },
      });
      third.write('better.md', answering('{{id}}'));
      const resumed = await third.run(['fanout', 'resume', 'batch', '--prompt', '@better.md', '--json']);
      expect(JSON.parse(resumed.stdout), resumed.stderr).toMatchObject({ outcome: 'completed', left: [] });

      const lines = (await third.done(['fanout', 'results', 'batch'])).trim().split('\n');
      const results = lines.map((line) => JSON.parse(line) as ItemResult);
      expect(results.map(({ itemId, job, earlier = [] }) => [itemId, job?.prompts[0]?.result, earlier.length])).toEqual(
        items.map(({ id }, at) => [id, `answer of ${id}\n`, at < failing ? 1 : 0]),
      );
      for (const { id } of items) {
        expect(third.read(`fanout-batch/files/${id}/out.txt`)).toBe(`answer of ${id}\n`);
      }
      expect(forks().map(({ state, id }) => [state, promptsIn(id)])).toEqual(forks().map(() => ['archived', 1]));
      const forksOf = items.map(
        (_, at) => forks().filter(({ name }) => partsOf(name, 'batch')?.step === itemStep(at)).length,
      );
      expect(forksOf).toEqual(items.map((_, at) => (at < failing ? 2 : 1)));
      expect(service.books.sandboxes().filter(({ state }) => state !== 'archived')).toEqual([]);
    });

    it("a night's cleanup runs on the host that lives, and goes on on the other one", async () => {
      const { a, b, third, service, api } = hosts;
      const old = () => service.books.sandboxes().filter(({ name }) => name.startsWith('old-'));
      const kept = () => old().filter(({ gone }) => gone === null).length;
      const deletions = () =>
        service.books.calls().filter(({ endpoint, accepted }) => endpoint === 'deleteSandbox' && accepted);
      const rules = [{ rule: 'old', match: { name: 'old-*', state: ['ready'] }, action: 'delete-sandbox' }];
      a.write('clean.yaml', JSON.stringify({ name: 'old', limits: { maxPercent: 100 }, rules }));
      for (let at = 0; at < 12; at += 1) await api.createSandbox({ name: `old-${at}` });
      await a.kill('worker');
      const times = ['--cron', '@every 10s', '--overlap', 'buffer-one'];
      await a.done(['schedule', 'add', 'clean', 'clean.yaml', ...times]);
      await expect.poll(() => deletions().length).toBeGreaterThan(0);
      await b.kill('worker');
      await a.start('worker');
      await expect.poll(kept).toBe(0);

      await third.done(['schedule', 'pause', 'clean']);
      const shown = async () => JSON.parse(await third.done(['schedule', 'show', 'clean', '--json'])).schedule;
      const outcomes = async () => (await shown()).runs.map(({ outcome }: { readonly outcome: string }) => outcome);
      await expect.poll(async () => new Set(await outcomes())).toEqual(new Set(['applied']));
      expect(await shown()).toMatchObject({ missed: 0 });
      expect(
        deletions()
          .map(({ sandboxId }) => sandboxId)
          .toSorted(),
      ).toEqual(
        old()
          .map(({ id }) => id)
          .toSorted(),
      );
      await b.start('worker');
    });

    /** How often Temporal has begun an activity again because its worker was silent. */
    async function missedHeartbeats(): Promise<number> {
      const { workflowService, options } = hosts.temporal;
      const { executions } = await workflowService.listWorkflowExecutions({ namespace: options.namespace });
      const histories = executions.map(({ execution }) =>
        hosts.temporal.workflow.getHandle(execution?.workflowId ?? '', execution?.runId ?? undefined).fetchHistory(),
      );
      const events = (await Promise.all(histories)).flatMap(({ events: of }) => of ?? []);
      const failures = events.map((event) => event.activityTaskStartedEventAttributes?.lastFailure?.timeoutFailureInfo);
      return failures.filter((timeout) => timeout?.timeoutType === heartbeat).length;
    }

    /** The workers that began activities or workflow tasks of an execution, in the order in which they appeared. */
    async function workersOf(workflowId: string): Promise<string[]> {
      const { events } = await hosts.temporal.workflow.getHandle(workflowId).fetchHistory();
      const begun = (events ?? []).map(
        ({ activityTaskStartedEventAttributes: activity, workflowTaskStartedEventAttributes: task }) =>
          activity?.identity ?? task?.identity ?? '',
      );
      return [...new Set(begun.filter((identity) => identity !== ''))];
    }
  },
);

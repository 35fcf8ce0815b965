/**
 * What a job costs a cluster with one, two and four workers: the figures of docs/scale.md, which this prints. CPU times are
 * rough on a busy machine and are held by nothing; what is counted is. Slow tier, some four minutes of two cores.
 */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { cpuSeconds } from '../../../bench/measure/process-usage.js';
import { jobWorkflowId } from '../../../src/addresses/addresses.js';
import { readConfig } from '../../../src/config.js';
import { unguessableLoopback } from '../../../src/os/free-port.js';
import type { JobInput } from '../../../src/protocol/job/job-input.js';
import type { JobResult } from '../../../src/protocol/job/job-result.js';
import { connectTemporal } from '../../../src/temporal/connect.js';
import { startJob } from '../../../src/workflow-client/jobs/job-client.js';
import type { Started } from '../../e2e/cli/program.js';
import { shell } from '../../e2e/stack/fixture.js';
import { createParts } from '../../e2e/stack/fixture-parts.js';
import { type Cluster, startCluster } from './cluster.js';
import { createNamespace } from './namespace.js';
import { type ClusterPrograms, findClusterPrograms } from './programs.js';

const jobs = 60;
const idleMs = 10_000;
const workerCounts = [1, 2, 4] as const;
const [taskQueue, deployment] = ['scale', 'parts'];

let programs: ClusterPrograms | string;
beforeAll(async () => {
  programs = await findClusterPrograms();
}, 3_600_000);

interface Used {
  /** Calls of Temporal's frontend by operation, without polls: these last, and grow with the time. */
  readonly requests: number;
  readonly transactions: number;
  readonly databaseKb: number;
  readonly workerCpuMs: number;
  readonly temporalCpuMs: number;
  readonly databaseCpuMs: number;
}

const cpuMs = (pids: readonly number[]) => pids.reduce((sum, pid) => sum + cpuSeconds(pid) * 1_000, 0);

/** That of a process and of its children, which may end while this reads. */
function cpuMsOfAll(parent: number): number {
  const ofEnded = readFileSync(`/proc/${parent}/stat`, 'utf8').split(' ').slice(15, 17);
  const children = readFileSync(`/proc/${parent}/task/${parent}/children`, 'utf8').split(' ').filter(Boolean);
  const alive = children.map((child) => {
    try {
      return cpuSeconds(Number(child)) * 1_000;
    } catch {
      return 0;
    }
  });
  return [cpuMs([parent]), ...ofEnded.map((ticks) => Number(ticks) * 10), ...alive].reduce((sum, ms) => sum + ms);
}

async function usedBy(cluster: Cluster, workers: readonly Started[]): Promise<Used> {
  const requests = [...(await cluster.metrics()).matchAll(/^service_requests\{([^}]*)\} (\S+)$/gm)]
    .filter(([, labels = '']) => /service_name="frontend"/.test(labels) && !/operation="Poll/.test(labels))
    .reduce((sum, [, , count]) => sum + Number(count), 0);
  const [transactions = 0, bytes = 0] = cluster
    .askDatabase(
      "select sum(xact_commit), sum(pg_database_size(oid)) from pg_database join pg_stat_database on oid = datid where pg_database.datname like 'temporal%'",
    )
    .split('|')
    .map(Number);
  const { roles, postgres } = cluster.pids();
  return {
    requests,
    transactions,
    databaseKb: bytes / 1_024,
    workerCpuMs: cpuMs(workers.map(({ process: { pid } }) => pid ?? 0)),
    temporalCpuMs: cpuMs(roles),
    databaseCpuMs: cpuMsOfAll(postgres),
  };
}

const input = (jobId: string): JobInput => ({
  deployment,
  jobId,
  source: { kind: 'create', body: {} },
  waitFor: 'usable',
  put: [],
  prompts: [{ prompt: shell('echo done') }],
  conversations: 'one',
  collect: [],
  end: 'stop',
  deadlineMs: 3_600_000,
  ttlSeconds: 3_600,
  onUnknownOutcome: 'wait',
  maxGenerations: 3,
});

it('a job costs Temporal and its database the same with one, two and four workers', {
  timeout: 3_600_000,
}, async (context) => {
  if (typeof programs === 'string') return context.skip(programs);
  const cluster = await startCluster(programs, { host: await unguessableLoopback() });
  onTestFinished(() => cluster.stop());
  const address = { TEMPORAL_ADDRESS: cluster.address, TEMPORAL_NAMESPACE: 'default' };
  await createNamespace('default', address);
  const parts = await createParts(() => address);
  onTestFinished(() => parts.close());
  const service = await parts.startService('service', { timings: { bootMs: 100, archiveMs: 100 } });
  const settings = parts.environment(service, taskQueue);
  const client = await connectTemporal(readConfig(settings).temporal.connect);
  onTestFinished(() => client.connection.close());
  const run = async (name: string) => {
    const ids = Array.from({ length: jobs }, (_, at) => `${name}-${at}`);
    await Promise.all(ids.map((id) => startJob(client, input(id), { taskQueue })));
    const resultOf = (id: string) => client.workflow.getHandle(jobWorkflowId(deployment, id)).result();
    const results = (await Promise.all(ids.map(resultOf))) as JobResult[];
    expect(results.map(({ outcome }) => outcome)).toEqual(ids.map(() => 'completed'));
  };

  const workers: Started[] = [];
  const during = async (work: () => Promise<unknown>) => {
    const [before, beganMs] = [await usedBy(cluster, workers), performance.now()];
    await work();
    const [after, ms] = [await usedBy(cluster, workers), performance.now() - beganMs];
    const used = Object.entries(after).map(([name, value]) => [name, value - before[name as keyof Used]]);
    return { used: Object.fromEntries(used) as Used, ms };
  };
  const seen: Record<string, Used> = {};
  for (const count of workerCounts) {
    while (workers.length < count) workers.push(await parts.startWorker(settings));
    await run(`warm-${count}`);
    const idle = await during(() => sleep(idleMs));
    const busy = await during(() => run(`with-${count}`));
    // What a cluster does without a job is not that of a job.
    const aJob = Object.entries(busy.used).map(([name, used]) => {
      const ofIdle = (idle.used[name as keyof Used] / idle.ms) * busy.ms;
      return [name, Math.round(((used - ofIdle) / jobs) * 10) / 10];
    });
    seen[count] = Object.fromEntries(aJob) as Used;
    process.stderr.write(`${count} workers, a job: ${JSON.stringify(seen[count])}\n`);
  }
  for (const { requests } of Object.values(seen)) {
    expect(requests / (seen[1]?.requests ?? 0)).toBeGreaterThan(0.8);
    expect(requests / (seen[1]?.requests ?? 0)).toBeLessThan(1.25);
  }
});

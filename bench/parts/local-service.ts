/** Measures the local service under load: the cost of list, get and create as the books grow. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createSandboxClient, type SandboxClient } from '../../src/client/index.js';
import { inParallel } from '../measure/plain-job.js';
import { quantile } from '../measure/quantiles.js';
import { startChild } from '../processes/child.js';
import type { Workshop } from '../stand.js';

const atOnce = 16;

export interface CallCost {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

export interface ServiceLoad {
  /** The number of sandboxes on the books during the measurement. */
  readonly sandboxes: number;
  readonly get: CallCost;
  readonly create: CallCost;
  /** The whole list in one answer. */
  readonly list: CallCost;
  /** A page of fifty. */
  readonly page: CallCost;
  readonly serviceMb: number;
}

async function costOf(calls: number, call: () => Promise<unknown>): Promise<CallCost> {
  const times: number[] = [];
  const begun = performance.now();
  await inParallel(calls, Math.min(atOnce, calls), async () => {
    const sentAt = performance.now();
    await call();
    times.push(performance.now() - sentAt);
  });
  const seconds = (performance.now() - begun) / 1_000;
  return { perSecond: calls / seconds, p50Ms: quantile(times, 0.5), p99Ms: quantile(times, 0.99) };
}

/** @param counts numbers of sandboxes, in ascending order: for each, sandboxes are added to the existing ones */
export async function measureLocalService(
  workshop: Pick<Workshop, 'directory' | 'signal'>,
  { counts, calls }: { readonly counts: readonly number[]; readonly calls: number },
): Promise<ServiceLoad[]> {
  const directory = join(workshop.directory, 'service-load');
  await mkdir(directory, { recursive: true });
  const apiKey = 'bench-key';
  const timings = { bootMs: 0, archiveMs: 0 };
  const service = await startChild(new URL('../processes/service.js', import.meta.url), {
    settings: { directory: join(directory, 'service'), apiKey, timings },
    logFile: join(directory, 'service.log'),
  });
  const api: SandboxClient = createSandboxClient({
    baseUrl: service.url,
    apiKey,
    connections: atOnce,
    timeoutMs: 60_000,
  });
  const measured: ServiceLoad[] = [];
  try {
    let there = 0;
    const create = async () => {
      there += 1;
      await api.createSandbox({});
    };
    await create();
    const first = (await api.listSandboxes()).sandboxes[0]?.id ?? '';
    await costOf(calls, () => api.getSandbox(first));
    for (const count of counts) {
      workshop.signal.throwIfAborted();
      await inParallel(Math.max(0, count - there), atOnce, create);
      // Boots continue in the background. Wait for their end, because they are not to be measured.
      for (let booting = true; booting; ) {
        const sandboxes = await api.listAllSandboxes();
        booting = sandboxes.some(({ state }) => state !== 'ready');
      }
      const get = await costOf(calls, () => api.getSandbox(first));
      const list = await costOf(Math.max(20, Math.round((calls * 20) / count)), () => api.listSandboxes());
      const page = await costOf(calls, () => api.listSandboxes({ limit: 50 }));
      const serviceMb = service.residentMb();
      measured.push({
        sandboxes: there,
        get,
        list,
        page,
        create: await costOf(Math.min(calls, 300), create),
        serviceMb,
      });
    }
    return measured;
  } finally {
    await api.close();
    await service.stop();
  }
}

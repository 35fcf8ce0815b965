/** Measures the memory that large downloads take on both sides. It must not grow with the size of the download. */
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createSandboxClient, type SavedDownload } from '../../src/client/index.js';
import { residentMb } from '../measure/process-usage.js';
import { quantile } from '../measure/quantiles.js';
import { startChild } from '../processes/child.js';
import type { Workshop } from '../stand.js';

const sampleMs = 50;

export interface DownloadCost {
  readonly what: string;
  readonly sizeMb: number;
  readonly seconds: number;
  /** The greatest growth of the client's resident memory during the download. */
  readonly clientMb: number;
  readonly serviceMb: number;
}

export async function measureDownloads(
  workshop: Pick<Workshop, 'directory' | 'signal'>,
  { sizeMb }: { readonly sizeMb: number },
): Promise<DownloadCost[]> {
  const directory = join(workshop.directory, 'downloads');
  await mkdir(directory, { recursive: true });
  const apiKey = 'bench-key';
  const service = await startChild(new URL('../processes/service.js', import.meta.url), {
    settings: { directory: join(directory, 'service'), apiKey, timings: { bootMs: 0, archiveMs: 0 } },
    logFile: join(directory, 'service.log'),
  });
  const api = createSandboxClient({ baseUrl: service.url, apiKey, timeoutMs: 120_000 });

  async function cost(what: string, download: (to: string) => Promise<SavedDownload>): Promise<DownloadCost> {
    workshop.signal.throwIfAborted();
    const to = join(directory, 'downloaded');
    const client: number[] = [residentMb(process.pid)];
    const served: number[] = [service.residentMb()];
    const sampler = setInterval(() => {
      client.push(residentMb(process.pid));
      served.push(service.residentMb());
    }, sampleMs);
    const begun = performance.now();
    try {
      await download(to);
    } finally {
      clearInterval(sampler);
    }
    const seconds = (performance.now() - begun) / 1_000;
    await rm(to, { force: true });
    const growth = (samples: readonly number[]) => quantile(samples, 1) - (samples[0] ?? 0);
    return { what, sizeMb, seconds, clientMb: growth(client), serviceMb: growth(served) };
  }

  async function reach(sandboxId: string, state: string): Promise<void> {
    for (let seen = ''; seen !== state; ) seen = (await api.getSandbox(sandboxId)).sandbox.state;
  }

  try {
    const { id } = (await api.createSandbox({})).sandbox;
    await reach(id, 'ready');
    // Download a small file first, so that the costs of a first use do not count.
    await api.runCommand(id, { command: 'mkdir folder && echo small > folder/small' });
    await cost('warm-up', (to) => api.downloadArtifact(id, 'folder/small', { to }));
    await cost('warm-up', (to) => api.downloadArtifact(id, 'folder', { to }));
    await api.runCommand(id, { command: `head -c ${sizeMb}M /dev/urandom > folder/big` }, { timeoutMs: 300_000 });
    const costs = [
      await cost('artifact, a file', (to) => api.downloadArtifact(id, 'folder/big', { to })),
      await cost('artifact, a folder as tar.gz', (to) => api.downloadArtifact(id, 'folder', { to })),
    ];
    await api.stopSandbox(id);
    await reach(id, 'archived');
    const snapshotId = (await api.getLatestSnapshot(id)).snapshot.id;
    return [
      ...costs,
      await cost('snapshot, a file', (to) => api.downloadSnapshotFile(snapshotId, 'folder/big', { to })),
      await cost('snapshot, whole', (to) => api.downloadSnapshot(snapshotId, { to })),
    ];
  } finally {
    await api.close();
    await service.stop();
  }
}

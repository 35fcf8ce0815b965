import { readdir, readlink } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { apiKey, startService } from './service-under-test.js';

const MiB = 1024 * 1024;

/** Open files with a given name in this process, which includes the service. */
async function openFiles(name: string): Promise<string[]> {
  const all = await readdir('/proc/self/fd');
  const targets = await Promise.all(all.map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')));
  return targets.filter((path) => path.endsWith(name));
}

it.skipIf(process.platform !== 'linux')('a download stops when its caller disconnects', async () => {
  const { service, ready, call } = await startService();
  const id = await ready();
  await call('POST', `/sandboxes/${id}/commands`, { body: { command: 'truncate -s 256M big.bin' } });
  const leaving = new AbortController();
  const response = await fetch(`${service.url}/sandboxes/${id}/artifacts?path=big.bin`, {
    headers: { authorization: `Bearer ${apiKey}` },
    signal: leaving.signal,
  });
  expect(response.headers.get('content-length')).toBe(String(256 * MiB));
  expect(await openFiles('big.bin')).toHaveLength(1);
  leaving.abort();
  await expect.poll(() => openFiles('big.bin')).toEqual([]);
});

it.skipIf(process.platform !== 'linux')('a caller that disconnects before the answer leaves nothing open', async () => {
  const { service, ready, call, arm } = await startService();
  const id = await ready();
  await call('POST', `/sandboxes/${id}/commands`, { body: { command: 'truncate -s 256M late.bin' } });
  const open = (signal?: AbortSignal) =>
    fetch(`${service.url}/sandboxes/${id}/artifacts?path=late.bin`, {
      headers: { authorization: `Bearer ${apiKey}` },
      signal,
    });
  const armed = async () => (await call('GET', '/faults', { admin: true })).body.faults;
  let wasInTime = false;
  // If a busy machine lets the answer come first, the next one comes later.
  for (let ms = 100; !wasInTime; ms *= 2) {
    await arm({ kind: 'latency', endpoint: 'downloadArtifact', ms, times: 2 });
    const leaving = new AbortController();
    const request = open(leaving.signal);
    await expect.poll(armed).toMatchObject([{ remaining: 1 }]);
    leaving.abort();
    wasInTime = await request.then(
      () => false,
      () => true,
    );
    // It waits as long and started later, so the abandoned call is answered before it.
    const second = await open();
    await second.body?.cancel();
  }
  await expect.poll(() => openFiles('late.bin')).toEqual([]);
});

import { createServer } from 'node:http';
import { expect, it, onTestFinished } from 'vitest';
import { cli } from '../../unit/cli/in-process.js';
import { listensOn, unlessTaken } from '../../unit/os/free-ports.js';
import { createRoad } from '../../workflows/road-to-temporal.js';

it('a worker is ready while it polls and Temporal answers, and alive from its start to its end', async () => {
  const road = await createRoad();
  onTestFinished(road.close);
  const env = {
    TEMPORAL_ADDRESS: road.address,
    // Nothing listens there: whether a worker takes tasks does not depend on the service.
    SANDBOX_API_URL: 'http://127.0.0.1:9/v1',
    SANDBOX_API_KEY: 'key',
    SANDFLOW_TASK_QUEUE: 'probed',
  };
  await unlessTaken(async () => {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const asked = async (path: string, method = 'GET') => {
      const response = await fetch(url + path, { method });
      return `${response.status} ${await response.text()}`.trim();
    };
    const stop = new AbortController();
    const worker = cli(['worker', '--health', `127.0.0.1:${port}`], { env, interrupted: stop.signal });
    const alive = expect.poll(() => asked('/healthz')).toBe('200 ok');
    if (!(await Promise.race([alive.then(() => true), worker.then(() => false)]))) return false;
    await expect.poll(() => asked('/readyz')).toBe('200 ready');
    expect(await asked('/readyz/'), 'with a slash at the end').toBe('200 ready');
    for (const path of ['/healthz', '/readyz']) expect(await asked(path, 'HEAD'), path).toBe('200');
    expect(await asked('/healthz', 'POST')).toBe('404 not_found');
    road.shut();
    await expect.poll(() => asked('/readyz')).toBe('503 Temporal cannot be reached, or refuses the namespace');
    expect(await asked('/healthz')).toBe('200 ok');
    expect(await asked('/metrics')).toBe('404 not_found');
    road.open();
    await expect.poll(() => asked('/readyz')).toBe('200 ready');
    stop.abort();
    expect(await worker).toMatchObject({ exitCode: 0 });
    await expect(asked('/healthz'), 'the port is closed').rejects.toThrow();
    return true;
  });
});

async function freePort(): Promise<number> {
  const server = createServer();
  await listensOn(server, 0);
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address ? address.port : 0;
}

import { expect, test } from 'vitest';
import { apiKey, startService } from '../../service/service-under-test.js';

const sandboxes = 1_000;

/** The median duration of several runs, in ms. */
async function median(runs: number, work: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let run = 0; run < runs; run++) {
    const begun = performance.now();
    await work();
    times.push(performance.now() - begun);
  }
  return times.sort((one, other) => one - other)[Math.floor(runs / 2)] ?? 0;
}

test('get and create cost the same with a thousand stored sandboxes as with a few', async () => {
  const under = await startService({ timings: { bootMs: 0 } });
  const headers = { authorization: `Bearer ${apiKey}` };
  const send = async (method: string, path: string) => {
    const response = await fetch(`${under.service.url}${path}`, { method, headers });
    await response.arrayBuffer();
    return response.status;
  };
  const get = async (id: string) => expect(await send('GET', `/sandboxes/${id}`)).toBe(200);
  const create = async () => expect(await send('POST', '/sandboxes')).toBe(202);

  const id = await under.ready();
  for (let index = 0; index < 50; index++) await get(id);
  const few = { get: await median(200, () => get(id)), create: await median(60, create) };
  while (under.service.books.summary().sandboxes < sandboxes) {
    await Promise.all(Array.from({ length: 20 }, create));
  }
  await expect
    .poll(() => under.service.books.sandboxes().every(({ state }) => state === 'ready'), { timeout: 30_000 })
    .toBe(true);
  const many = { get: await median(200, () => get(id)), create: await median(60, create) };
  const list = await median(9, () => send('GET', '/sandboxes'));

  // Far below the cost of a scan, with room for a busy machine.
  expect(many.get).toBeLessThan(few.get * 3 + 3);
  expect(many.create).toBeLessThan(few.create * 3 + 3);
  // The whole list costs far less than reading each sandbox.
  expect(list).toBeLessThan(many.get * sandboxes * 0.5);
});

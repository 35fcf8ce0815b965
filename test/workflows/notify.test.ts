import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { resolveUpdate } from '../../workflows/index.js';
import { createStand, type Stand } from './stand.js';

let stand: Stand;
let server: Server;
let url: string;
let directory: string;
const received: Record<string, unknown>[] = [];

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'sandflow-notify-'));
  stand = await createStand({ worker: { allowNotifyCommands: true } });
  server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    received.push(JSON.parse(Buffer.concat(chunks).toString()) as Record<string, unknown>);
    response.writeHead(204).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
});
afterAll(async () => {
  await stand.close();
  await new Promise((resolve) => server.close(resolve));
  await rm(directory, { recursive: true });
});

it('tells a URL and a command that the job has ended', async () => {
  const file = join(directory, 'ended.json');
  const result = await (await stand.start({ notify: { url, command: `cat > ${file}` } })).result();
  const told = received.filter(({ jobId }) => jobId === result.jobId);
  expect(told).toMatchObject([{ event: 'ended', outcome: 'completed', sandboxId: result.sandboxId }]);
  expect(JSON.parse(await readFile(file, 'utf8'))).toEqual(told[0]);
});

it('tells that the job is blocked, and then that it has ended', async () => {
  await stand.fault({ kind: 'error', endpoint: 'sendPrompt', status: 502, html: true });
  const handle = await stand.start({ notify: { url } });
  const events = () => received.filter(({ workflowId }) => workflowId === handle.workflowId).map(({ event }) => event);
  await expect.poll(events, { timeout: 20_000 }).toEqual(['blocked']);
  await handle.executeUpdate(resolveUpdate, { args: [{ action: 'abandon' }] });
  await handle.result();
  expect(events()).toEqual(['blocked', 'ended']);
});

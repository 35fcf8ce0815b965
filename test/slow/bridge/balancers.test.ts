/** Bridges behind real balancers: an update loses no delivery, and an idle connection stays usable. */
import { type ChildProcess, spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import { connectClient, deliver, eventBody, secret, startBridge } from '../../bridge/bridge-harness.js';
import { temporaryDirectory } from '../../unit/cli/temporary-directory.js';
import { repository } from '../../unit/house/source-imports.js';
import { type Balancer, ended, requireProgram, startHaproxy, startNginx } from './balancers.js';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

interface BridgeProcess {
  readonly port: number;
  readonly child: ChildProcess;
}

/** The built bridge, as an orchestrator runs it. */
async function startBridgeProcess(): Promise<BridgeProcess> {
  const home = await temporaryDirectory();
  const args = [`${repository}/dist/src/cli/main.js`, 'bridge', '--port', '0', '--drain', '5s', '--ready-json'];
  const env = {
    PATH: process.env.PATH,
    SANDFLOW_HOME: home,
    TEMPORAL_ADDRESS: inject('temporalAddress'),
    SANDBOX_WEBHOOK_SECRET: secret,
  };
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  closing.push(async () => {
    await ended(child, 'SIGKILL');
    rmSync(home, { recursive: true, force: true });
  });
  const line = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).once('line', resolve);
    child.once('exit', (code) => reject(new Error(`the bridge ended with ${code}`)));
  });
  return { port: Number(new URL(JSON.parse(line).url).port), child };
}

/** Delivers without a pause, four at once, until it is told to stop. */
function startLoad(url: string) {
  const failures: unknown[] = [];
  let accepted = 0;
  let isOver = false;
  const send = async () => {
    while (!isOver) {
      const { status, text } = await deliver(url, eventBody()).catch((error) => ({ status: 0, text: String(error) }));
      if (status === 200) accepted += 1;
      else failures.push({ status, text });
    }
  };
  const senders = [1, 2, 3, 4].map(send);
  const more = async (count: number) => {
    const wanted = accepted + count;
    await expect.poll(() => accepted >= wanted || failures.length > 0).toBe(true);
  };
  return {
    failures,
    more,
    async stop() {
      isOver = true;
      await Promise.all(senders);
    },
  };
}

const balancers = [
  ['haproxy', startHaproxy],
  ['nginx', startNginx],
] as const;

describe.each(balancers)('behind %s', (name, startBalancer) => {
  it('a bridge that is stopped under load loses no delivery', async (context) => {
    requireProgram(name, context);
    const bridges = await Promise.all([startBridgeProcess(), startBridgeProcess()]);
    const balancer: Balancer = await startBalancer(bridges.map(({ port }) => port));
    closing.push(balancer.close);
    const load = startLoad(balancer.url);
    await load.more(200);
    // One after the other, as in a rolling update.
    expect(await ended(bridges[0].child, 'SIGTERM')).toBe(0);
    await load.more(200);
    await load.stop();
    expect(load.failures).toEqual([]);
  });
});

describe('an idle connection', () => {
  let temporal: Awaited<ReturnType<typeof connectClient>>;
  beforeAll(async () => {
    temporal = await connectClient(inject('temporalAddress'));
  });
  afterAll(() => temporal.close());

  it('of 31 seconds takes the next request', async () => {
    const bridge = await startBridge(temporal.client);
    closing.push(bridge.close);
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    closing.push(() => agent.destroy());
    const ask = () =>
      new Promise<number | undefined>((resolve, reject) => {
        const asking = request(`${bridge.url}/healthz`, { agent }, (response) => {
          response.resume().once('end', () => resolve(asking.socket?.localPort));
        });
        asking.once('error', reject).end();
      });
    const port = await ask();
    await sleep(31_000);
    expect(await ask()).toBe(port);
  });
});

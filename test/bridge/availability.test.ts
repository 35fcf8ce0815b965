import { createServer, type Socket } from 'node:net';
import { Client, Connection } from '@temporalio/client';
import { afterEach, describe, expect, inject, it } from 'vitest';
import { startRefusingPort } from '../unit/client/http-harness.js';
import { connectClient, deliver, eventBody, newOwned, newSandboxId, startBridge } from './bridge-harness.js';

const open: { close(): Promise<unknown> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});
function keep<T extends { close(): Promise<unknown> }>(one: T): T {
  open.push(one);
  return one;
}

/** A port that refuses, or one that accepts and never answers. */
async function deadAddress(silent: boolean): Promise<string> {
  if (!silent) return new URL(keep(await startRefusingPort()).url).host;
  const sockets: Socket[] = [];
  const server = createServer((socket) => sockets.push(socket));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const bound = server.address();
  const address = `127.0.0.1:${typeof bound === 'object' ? bound?.port : bound}`;
  keep({
    close() {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(resolve));
    },
  });
  return address;
}

describe('S9: a bridge without Temporal acknowledges nothing', () => {
  it.each([
    ['refuses connections', false],
    ['never answers', true],
  ])('answers 503 if Temporal %s, with one deadline for all signals', async (_, silent) => {
    const connection = keep(Connection.lazy({ address: await deadAddress(silent) }));
    const logged: unknown[] = [];
    const log = (message: string, fields?: unknown) => logged.push({ message, fields });
    const client = new Client({ connection });
    const withDeadline = client.withDeadline.bind(client);
    const deadlines: number[] = [];
    client.withDeadline = (deadline, run) => {
      deadlines.push(Number(deadline) - Date.now());
      return withDeadline(deadline, run);
    };
    const bridge = keep(await startBridge(client, { signalTimeoutMs: 300, log }));
    const answer = await deliver(bridge.url, eventBody({ name: newOwned().name }));
    expect(answer).toMatchObject({ status: 503, text: 'unavailable' });
    expect(deadlines).toHaveLength(1);
    expect(deadlines[0]).toBeLessThanOrEqual(300);
    expect(await bridge.metric('sandflow_bridge_signals_total', '{address="owner",result="unavailable"}')).toBe(1);
    expect(logged.length).toBeGreaterThan(0);
    expect(JSON.stringify(logged)).not.toContain('whsec');
    expect((await fetch(`${bridge.url}/readyz`)).status).toBe(503);
    expect((await fetch(`${bridge.url}/healthz`)).status).toBe(200);
  });

  it('answers 503 if the namespace does not exist, because an operator can fix it', async () => {
    const connection = keep(await Connection.connect({ address: inject('temporalAddress') }));
    const bridge = keep(await startBridge(new Client({ connection, namespace: 'nowhere' })));
    expect(await deliver(bridge.url, eventBody())).toMatchObject({ status: 503 });
  });

  it('answers 503 if one address accepts the signal and another does not', async () => {
    const temporal = keep(await connectClient(inject('temporalAddress')));
    const sandboxId = newSandboxId();
    const stop = `sandbox-stop/${sandboxId}`;
    const watch = `sandbox-watch/${sandboxId}`;
    await temporal.startWaiting(watch);
    await temporal.startWaiting(stop);
    // A payload that cannot be encoded for one workflow: a failure that a real server does not produce on demand.
    const { client } = temporal;
    const original = client.workflow.getHandle.bind(client.workflow);
    let failing = true;
    client.workflow.getHandle = ((workflowId: string) => {
      const handle = original(workflowId);
      if (failing && workflowId === stop) handle.signal = () => Promise.reject(new Error('key service away'));
      return handle;
    }) as typeof original;
    const bridge = keep(await startBridge(client));
    const body = eventBody({ sandboxId });
    expect(await deliver(bridge.url, body)).toMatchObject({ status: 503 });
    failing = false;
    expect(await deliver(bridge.url, body)).toMatchObject({ status: 200 });
    expect(await temporal.signalsTo(stop)).toMatchObject([{ id: body.id }]);
    expect(await temporal.signalsTo(watch)).toMatchObject([{ id: body.id }, { id: body.id }]);
  });
});

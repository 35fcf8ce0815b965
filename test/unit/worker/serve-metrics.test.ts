import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Runtime } from '@temporalio/worker';
import { expect, it } from 'vitest';
import { logTo, serveMetrics } from '../../../src/worker/index.js';
import { unlessTaken } from '../os/free-ports.js';

async function listening(): Promise<{ readonly server: Server; readonly port: number }> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, port: (server.address() as AddressInfo).port };
}

/** False if the port cannot be had. */
function serves(port: number): boolean {
  try {
    serveMetrics(`127.0.0.1:${port}`);
    return true;
  } catch {
    return false;
  }
}

it('the metrics of workers refuse an address in use or an invalid one, and then serve the counters', async () => {
  let port = 0;
  await unlessTaken(async () => {
    const taken = await listening();
    port = taken.port;
    expect(() => serveMetrics(`127.0.0.1:${port}`)).toThrow(
      /^Metrics cannot be served at 127\.0\.0\.1:\d+ \(--metrics\): the port is in use\.$/,
    );
    expect(() => serveMetrics('192.0.2.1:9464')).toThrow(/\(--metrics\): this is not an address of this machine\.$/);
    expect(() => serveMetrics('here')).toThrow(expect.objectContaining({ code: 'metrics_not_served' }));
    await new Promise((resolve) => taken.server.close(resolve));
    return serves(port);
  });
  Runtime.instance().metricMeter.createCounter('sandflow_stop_alerts').add(2);
  const metrics = async () => (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  await expect.poll(metrics).toMatch(/^sandflow_stop_alerts 2$/m);
  expect(() => serveMetrics(`127.0.0.1:${port}`)).toThrow(expect.objectContaining({ code: 'metrics_not_served' }));
  await Runtime.instance().shutdown();
});

it('the log takes the lines of the native part, which would print them with colours and secrets', async () => {
  logTo(() => undefined);
  expect(Runtime.instance().options).toMatchObject({ runtimeOptions: { logExporter: { type: 'forward' } } });
  await Runtime.instance().shutdown();
});

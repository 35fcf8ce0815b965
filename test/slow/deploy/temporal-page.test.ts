/**
 * What a web page reaches of the Temporal server of `deploy/systemd`, and of the settings of docker-compose.yml.
 * Tier: all. Two Temporal servers, ten seconds.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '@temporalio/client';
import { expect, onTestFinished, test, vi } from 'vitest';
import { parse } from 'yaml';
import { readConfig } from '../../../src/config.js';
import { freePort } from '../../../src/os/free-port.js';
import { connectTemporal } from '../../../src/temporal/connect.js';
import { findTemporalServer } from '../../../src/temporal-server/find.js';
import { readSource } from '../../unit/house/source-imports.js';
import { listeningPorts } from '../security/stack/listening-ports.js';

const namespace = 'default';
const uiAddress = '127.84.3.199';
const patient = { timeout: 60_000, interval: 200 };

/** The words of `ExecStart`, with what systemd puts in. */
function startOf(unit: string, given: Readonly<Record<string, string>>): string[] {
  const line = /^ExecStart=(.*)$/m.exec(readSource(`deploy/systemd/${unit}`).replaceAll(/\\\n\s*/g, ''))?.[1] ?? '';
  const words = [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');
  return words.map((word) => word.replaceAll(/%h|\$\{(\w+)\}/g, (all, name) => given[name ?? all] ?? ''));
}

/** A request as a page of another name sends it. @returns what it reads; nothing if nobody answers */
function asPage(host: string, port: number, { path, body }: { readonly path: string; readonly body?: string }) {
  const headers = { host: `page.example:${port}`, origin: `http://page.example:${port}`, 'content-type': 'text/plain' };
  return new Promise<string>((resolve) => {
    const asked = request({ host, port, path, method: body === undefined ? 'GET' : 'POST', headers }, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (piece: string) => {
        text += piece;
      });
      answer.once('close', () => resolve(text));
    });
    asked.setTimeout(5_000, () => asked.destroy());
    asked.once('error', () => resolve('')).end(body);
  });
}

async function started(words: readonly string[], port: number): Promise<{ client: Client; server: ChildProcess }> {
  const server = spawn(await findTemporalServer(readConfig()), words, { stdio: 'ignore' });
  onTestFinished(async () => {
    server.kill('SIGKILL');
    if (server.exitCode === null && server.signalCode === null) await once(server, 'exit');
  });
  const client = await vi.waitFor(() => connectTemporal({ address: `127.0.0.1:${port}` }), patient);
  onTestFinished(() => client.connection.close());
  await vi.waitFor(
    () => client.workflow.start('untaken', { taskQueue: 'nobody', workflowId: 'canary-of-a-job', args: [] }),
    patient,
  );
  await vi.waitFor(async () => expect((await client.workflow.count()).count).toBe(1), patient);
  return { client, server };
}

const list = { path: `/api/v1/namespaces/${namespace}/workflows` };
const start = (id: string) => ({
  path: `/api/v1/namespaces/${namespace}/workflows/${id}`,
  body: JSON.stringify({ workflowType: { name: 'untaken' }, taskQueue: { name: 'nobody' } }),
});

/** What a page finds at the addresses that it can guess. */
async function attack(server: ChildProcess, client: Client) {
  const ports = listeningPorts([server.pid ?? 0]);
  const read = await Promise.all(ports.map(({ port }) => asPage('127.0.0.1', port, list)));
  await Promise.all(ports.map(({ port }) => asPage('127.0.0.1', port, start(`started-at-${port}`))));
  const begun = await Promise.all(
    ports.map(({ port }) =>
      client.workflow
        .getHandle(`started-at-${port}`)
        .describe()
        .then(
          () => port,
          () => undefined,
        ),
    ),
  );
  return {
    ports,
    readAt: ports.filter((_, at) => read[at]?.includes('canary')).map(({ port }) => port),
    startedAt: begun.filter((port) => port !== undefined),
  };
}

const nothing = { readAt: [], startedAt: [] };

test.runIf(process.platform === 'linux')(
  'a page lists and starts nothing at the server of temporal.service',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sandflow-unit-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const [port, uiPort] = [await freePort(), await freePort([], uiAddress)];
    const [, ...words] = startOf('temporal.service', { TEMPORAL_UI_IP: uiAddress }).map((word) =>
      word
        .replace(/^7233$/, String(port))
        .replace(/^8233$/, String(uiPort))
        .replace('/sandflow/temporal.db', join(folder, 'db')),
    );
    const { client, server } = await started(words, port);
    const { ports, ...done } = await attack(server, client);
    expect(done).toEqual(nothing);
    expect(ports.map((one) => one.port)).toEqual(expect.arrayContaining([port, uiPort]));
    // The UI itself serves every host name: only its address protects it.
    expect(await asPage(uiAddress, uiPort, list)).toContain('canary');
  },
  120_000,
);

test.runIf(process.platform === 'linux')(
  'a page lists and starts nothing by the HTTP API with the settings of Compose',
  async () => {
    const config = parse(readSource('deploy/compose/temporal.yaml')) as Record<string, readonly { value: unknown }[]>;
    const dynamic = Object.entries(config).flatMap(([key, values]) =>
      values.flatMap(({ value }) => ['--dynamic-config-value', `${key}=${JSON.stringify(value)}`]),
    );
    const port = await freePort();
    const where = ['--ip', '127.0.0.1', '--port', String(port), '--headless', '--log-level', 'error'];
    const { client, server } = await started(['server', 'start-dev', ...where, ...dynamic], port);
    const { ports, ...done } = await attack(server, client);
    expect(done).toEqual(nothing);
    expect(ports.length).toBeGreaterThan(1);
  },
  120_000,
);

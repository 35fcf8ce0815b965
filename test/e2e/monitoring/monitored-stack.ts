/** A worker and a bridge that serve metrics, and work that meets faults. */
import { rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, vi } from 'vitest';
import { freePort } from '../../../src/os/free-port.js';
import type { Started } from '../cli/program.js';
import { arm, booksOf, disarm, patient, readBooks, shell } from '../stack/fixture.js';
import { createParts, type LocalService } from '../stack/fixture-parts.js';

export interface MonitoredStack {
  /** `host:port` of each. */
  readonly targets: { readonly worker: string; readonly bridge: string };
  readonly service: LocalService;
  run(args: readonly string[]): Promise<{ readonly exitCode: number | null; readonly stderr: string }>;
  /** What both serve now, as one text. */
  metrics(): Promise<string>;
  /** A job with a check, a batch with failures, lost webhooks, a failing stop, a blocked job, a dead receiver, and a cleanup. */
  workInFaults(id: string): Promise<void>;
  close(): Promise<void>;
}

/** The service cancels what it has no machine for, and so on: each fault happens once. */
export async function createMonitoredStack(): Promise<MonitoredStack> {
  const parts = await createParts();
  const timings = { bootMs: 200, archiveMs: 100, stopRetryMs: 300 };
  const service = await parts.startService('service', { faultsEnabled: true, isolation: 'plain', timings });
  const env = parts.environment(service, 'monitored');
  const dead = createServer((_, response) => void response.writeHead(410).end());
  await new Promise<void>((resolve) => dead.listen(0, '127.0.0.1', resolve));
  const deadUrl = `http://127.0.0.1:${(dead.address() as AddressInfo).port}/`;
  const { home } = parts.cli;

  /** Started again if another process has taken the port. */
  const serve = async (args: readonly string[], own: Readonly<Record<string, string>>): Promise<string> => {
    for (;;) {
      const address = `127.0.0.1:${await freePort()}`;
      const started: Started = parts.cli.start([...args, '--metrics', address, '--ready-json'], own);
      const isReady = async () => {
        expect(started.stdout().endsWith('\n') || started.process.exitCode !== null, started.stderr()).toBe(true);
      };
      await vi.waitFor(isReady, patient);
      if (started.process.exitCode === null) return address;
    }
  };
  // The service delivers to the address of the bridge that it knows.
  await parts.killBridge('SIGTERM');
  const { port } = new URL(parts.bridgeUrl);
  const bridge = await serve(['bridge', '--port', port], { ...env, SANDBOX_WEBHOOK_SECRET_FILE: parts.secretFile });
  const worker = await serve(['worker'], env);
  const text = async (address: string) => (await fetch(`http://${address}/metrics`)).text();
  const run: MonitoredStack['run'] = (args) => parts.cli.run(args, env);
  const file = (name: string, content: string) => {
    writeFileSync(join(home, name), content);
    return join(home, name);
  };

  const untilCreated = (jobId: string) =>
    vi.waitFor(async () => {
      expect(booksOf(jobId, await readBooks(service)).sandboxes).toHaveLength(1);
    }, patient);

  return {
    targets: { worker, bridge },
    service,
    run,
    metrics: async () => (await Promise.all([worker, bridge].map(text))).join('\n'),
    async workInFaults(id) {
      const items = file(
        'items.jsonl',
        ['echo one', 'exit 1', 'echo three', 'exit 1'].map((line) => `${JSON.stringify(shell(line))}\n`).join(''),
      );
      await run(['run', shell('echo checked'), '--id', `${id}-checked`, '--check', 'true', '--quiet']);
      await arm(service, [
        { kind: 'webhook_drop', times: 2 },
        { kind: 'error', endpoint: 'getSandbox', status: 503, times: 2 },
      ]);
      const batch = ['fanout', items, '--budget', '5h', '--retries', '1', '--concurrency', '2', '--id', `${id}-batch`];
      await run([...batch, '--notify', deadUrl, '--out', join(home, `${id}-out`), '--quiet']);
      const never = { kind: 'error', endpoint: 'createSandbox', status: 402, code: 'billing_required' } as const;
      await arm(service, [{ kind: 'stop_fails', times: 25 }]);
      const failing = run(['run', shell('echo stop'), '--id', `${id}-stop`, '--quiet']);
      await untilCreated(`${id}-stop`);
      await arm(service, [{ ...never, times: 9 }]);
      const blocked = run(['run', shell('echo never'), '--id', `${id}-blocked`, '--deadline', '3s', '--quiet']);
      const rule = '{ rule: all, match: { owned: none, state: error }, action: stop }';
      const policy = ['name: nightly', 'protect: ["*"]', 'warnBeforeExpiry: 20d', `rules: [${rule}]`].join('\n');
      await run(['cleanup', 'run', file('policy.yaml', policy)]);
      await Promise.all([failing, blocked]);
      await disarm(service);
    },
    async close() {
      await new Promise((resolve) => dead.close(resolve));
      await parts.close();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

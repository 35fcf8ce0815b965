/**
 * The dashboard of `deploy/monitoring` on a real Prometheus, after work that met faults. Slow; costs some 60 CPU seconds and
 * three minutes. `npm run pictures:dashboard` draws what it shows.
 */
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { dashboardSvg } from '../../../scripts/dashboard-svg.mjs';
import { freePort } from '../../../src/os/free-port.js';
import { createMonitoredStack, type MonitoredStack } from '../../e2e/monitoring/monitored-stack.js';
import { patient } from '../../e2e/stack/fixture.js';
import { alertsFile, panels } from '../../unit/deploy/monitoring-files.js';
import { repository } from '../../unit/house/source-imports.js';

const isMissing = spawnSync('prometheus', ['--version']).error !== undefined;

/** Starts a Prometheus that asks every second, with the alerts of the file. @returns its address */
async function startPrometheus({ worker, bridge }: MonitoredStack['targets']): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'sandflow-prometheus-'));
  const job = (name: string, target: string) => ({ job_name: name, static_configs: [{ targets: [target] }] });
  const config = {
    global: { scrape_interval: '1s', evaluation_interval: '1s' },
    rule_files: [join(repository, alertsFile)],
    scrape_configs: [job('sandflow-worker', worker), job('sandflow-bridge', bridge)],
  };
  writeFileSync(join(folder, 'prometheus.yml'), JSON.stringify(config));
  const address = `127.0.0.1:${await freePort()}`;
  const server = spawn(
    'prometheus',
    [
      '--config.file=prometheus.yml',
      '--storage.tsdb.path=data',
      `--web.listen-address=${address}`,
      '--log.level=error',
    ],
    { cwd: folder, stdio: 'ignore' },
  );
  const ended = new Promise((resolve) => server.once('close', resolve));
  onTestFinished(async () => {
    server.kill('SIGTERM');
    await ended;
    rmSync(folder, { recursive: true });
  });
  return `http://${address}`;
}

interface Series {
  readonly metric: Readonly<Record<string, string>>;
  readonly values: readonly (readonly [number, string])[];
}

it('every panel of the dashboard shows what happened', { skip: isMissing, timeout: 900_000 }, async () => {
  const stack = await createMonitoredStack();
  onTestFinished(() => stack.close());
  const url = await startPrometheus(stack.targets);
  const ask = async <T>(path: string, parameters: Readonly<Record<string, string>> = {}): Promise<T> => {
    const answer = await fetch(`${url}/api/v1/${path}?${new URLSearchParams(parameters)}`);
    const { status, data, error } = (await answer.json()) as { status: string; data: T; error?: string };
    expect(status, error).toBe('success');
    return data;
  };
  const areUp = async () => {
    const { result } = await ask<{ result: readonly unknown[] }>('query', { query: 'up == 1' });
    expect(result).toHaveLength(2);
  };
  await vi.waitFor(areUp, patient);
  const from = Date.now() / 1_000;
  for (const id of ['first', 'second']) await stack.workInFaults(id);
  const to = Date.now() / 1_000;
  const answers = panels().map(async ({ title, targets, fieldConfig }) => {
    const ofTargets = targets.map(async ({ expr, legendFormat }) => {
      const query = expr.replaceAll('$__rate_interval', '15s').replaceAll(/\[(?:15|20)m\]/g, '[30s]');
      const range = { query, start: `${from}`, end: `${to}`, step: '1' };
      const { result } = await ask<{ result: readonly Series[] }>('query_range', range);
      return result.map(({ metric, values }) => ({
        label: legendFormat.replace(/\{\{(\w+)\}\}/g, (_, label: string) => metric[label] ?? ''),
        points: values.map(([at, value]) => [at, Number(value)] as const).filter(([, value]) => Number.isFinite(value)),
      }));
    });
    const series = (await Promise.all(ofTargets)).flat().filter(({ points }) => points.some(([, value]) => value > 0));
    return { title, unit: fieldConfig.defaults.unit, series };
  });
  const drawn = await Promise.all(answers);
  // The follower has a prompt after three minutes; the notification and so on are in the tests of the metrics.
  const empty = drawn.filter(({ series }) => series.length === 0).map(({ title }) => title);
  expect(empty).toEqual([]);
  const { alerts } = await ask<{ alerts: readonly { state: string; labels: { alertname: string } }[] }>('alerts');
  const fired = alerts.filter(({ state }) => state === 'firing').map(({ labels }) => labels.alertname);
  expect(fired).toContain('SandflowNotificationsLost');
  const { DASHBOARD_PICTURE: file } = process.env;
  if (!file) return;
  for (const theme of ['light', 'dark'] as const)
    writeFileSync(`${file}-${theme}.svg`, dashboardSvg(drawn, { from, to, theme }));
});

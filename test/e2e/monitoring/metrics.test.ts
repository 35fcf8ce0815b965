/**
 * The metrics of a real worker and a real bridge after work that met faults: `docs/monitoring.md`, the dashboard and the
 * alerts name no others. Gate; costs 20 CPU seconds.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { documentedMetrics, metricsIn, usedMetrics } from '../../unit/deploy/monitoring-files.js';
import { createMonitoredStack, type MonitoredStack } from './monitored-stack.js';

/** They move only after minutes or by hand. `test/workflows/follower/metrics.test.ts` and others see each of them move. */
const movesElsewhere = ['sandflow_followed_prompts', 'sandflow_stop_alerts', 'sandflow_stop_escalations'];

let stack: MonitoredStack;
let metrics = '';
beforeAll(async () => {
  stack = await createMonitoredStack();
  await stack.workInFaults('once');
  metrics = await stack.metrics();
});
afterAll(() => stack.close());

/** The sum of all series of a metric that have these labels; undefined if there is none. */
function sum(name: string, labels: Readonly<Record<string, string>> = {}): number | undefined {
  const values = metrics.split('\n').flatMap((line) => {
    const [, of, its = '', value] = /^(\w+?)(?:_count)?(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
    const fits = Object.entries(labels).every(([label, text]) => `,${its},`.includes(`,${label}="${text}",`));
    return of === name && fits ? [Number(value)] : [];
  });
  return values.length === 0 ? undefined : values.reduce((all, one) => all + one, 0);
}

it('the dashboard, the alerts and the page name only metrics that are served', () => {
  const served = [...metricsIn(metrics), ...movesElsewhere];
  const named = [...new Set([...usedMetrics(), ...documentedMetrics()])];
  expect(named.filter((name) => !served.includes(name))).toEqual([]);
  const own = metricsIn(metrics).filter((name) => name.startsWith('sandflow_'));
  expect(
    own.filter((name) => !documentedMetrics().includes(name)),
    'not in the page',
  ).toEqual([]);
});

it.each([
  ['sandflow_work_ended', { kind: 'item', outcome: 'completed', failure: 'none', class: 'none' }, 2],
  ['sandflow_work_ended', { kind: 'item', outcome: 'prompt_failed', class: 'agent' }, 2],
  ['sandflow_work_ended', { kind: 'retried_item' }, 2],
  ['sandflow_work_ended', { kind: 'batch' }, 1],
  [
    'sandflow_work_ended',
    { kind: 'job', outcome: 'deadline_exceeded', failure: 'deadline_exceeded', class: 'service' },
    1,
  ],
  ['sandflow_work_ended', { kind: 'cleanup' }, 1],
  ['sandflow_check_rounds', { round: '0', result: 'passed' }, 1],
  ['sandflow_check_rounds', { round: '1', result: 'passed' }, 1],
  ['sandflow_notifications_given_up', {}, 1],
  ['sandflow_cleanup_expiring', { policy: 'nightly' }, undefined],
  ['sandflow_refused_calls', { step: 'create', code: 'billing_required', meaning: 'blocked' }, undefined],
  ['sandflow_blocked_seconds', { reason: 'service_refuses', code: 'billing_required' }, undefined],
  ['sandflow_event_waits_ended', { by: 'safety_poll' }, undefined],
  ['sandflow_event_waits_ended', { by: 'webhook' }, undefined],
  ['sandflow_wake_lag_seconds', { source: 'webhook' }, undefined],
  ['sandflow_wake_lag_seconds', { source: 'safety_poll' }, undefined],
  ['sandflow_wake_lag_seconds', { source: 'deadline' }, undefined],
  ['sandflow_failing_stop_seconds', {}, undefined],
  ['sandflow_phase_seconds', { phase: 'waiting_for_sandbox' }, undefined],
  ['sandflow_machine_seconds', { part: 'reserved' }, undefined],
  ['sandflow_machine_seconds', { part: 'spent' }, undefined],
  ['sandflow_batch_budget_left_seconds', { batch: 'once-batch' }, undefined],
  ['sandflow_calls', { endpoint: 'createSandbox', status: '402', code: 'billing_required' }, undefined],
  ['sandflow_calls', { endpoint: 'getSandbox', status: '200', code: 'none' }, undefined],
  ['sandflow_call_seconds', { endpoint: 'getSandbox' }, undefined],
  ['sandflow_bridge_deliveries_total', { result: 'accepted' }, undefined],
] as const)('%s with %o has moved', (name, labels, exactly) => {
  const value = sum(name, labels);
  const served = metrics.split('\n').filter((line) => line.startsWith(name));
  if (exactly === undefined) expect(value ?? 0, served.join('\n')).toBeGreaterThan(0);
  else expect(value, served.join('\n')).toBe(exactly);
});

it('the bridge tells how many of each kind are open', () => {
  const open = [...metrics.matchAll(/^sandflow_open_work\{kind="(\w+)"\} \d+$/gm)].map(([, kind]) => kind);
  expect(open).toEqual(['job', 'item', 'batch', 'stop', 'cleanup', 'notification']);
});

it('no metric of the worker has the id of a job, an item or a sandbox as a label', () => {
  expect(metrics).not.toMatch(/once-stop|once-blocked|bx_|once-batch-i/);
});

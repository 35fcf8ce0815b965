/** The alerts and the dashboard, by promtool of Debian's package `prometheus`. Gate; costs 2 CPU seconds. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { readSource, repository } from '../house/source-imports.js';
import { alertsFile, documentedMetrics, panels, rules, usedMetrics } from './monitoring-files.js';

const promtool = (args: readonly string[]) => spawnSync('promtool', args, { cwd: repository, encoding: 'utf8' });
const isMissing = promtool(['--version']).error !== undefined;
const whyMissing = 'promtool is missing: apt-get install prometheus';

interface Fault {
  readonly alert: string;
  /** In the notation of promtool, a value a minute. */
  readonly series: Readonly<Record<string, string>>;
  /** Minutes at which no alert fires, before the fault and after its end. */
  readonly quiet: readonly number[];
  /** The minute at which it fires. */
  readonly firing: number;
}

const lateEvents = (le: string, late: boolean) => ({
  [`sandflow_wake_lag_seconds_bucket{source="webhook",le="${le}"}`]: late
    ? '0+10x20 200+10x20 400x50'
    : '0+10x20 200x70',
});

const faults: readonly Fault[] = [
  {
    alert: 'SandflowNoWorker',
    series: { 'sandflow_open_work{kind="job"}': '5x60', 'up{job="sandflow-worker"}': '1x10 0x20 1x30' },
    quiet: [5, 14, 40],
    firing: 20,
  },
  {
    alert: 'SandflowNoBridge',
    series: { 'up{job="sandflow-bridge"}': '1x10 0x20 1x30', 'up{job="sandflow-worker"}': '1x60' },
    quiet: [5, 45],
    firing: 20,
  },
  {
    alert: 'SandflowDeliveriesRefused',
    series: {
      'sandflow_bridge_deliveries_total{result="bad_signature"}': '_x20 1x70',
      'sandflow_bridge_deliveries_total{result="accepted"}': '0+10x90',
    },
    quiet: [15, 60],
    firing: 25,
  },
  {
    alert: 'SandflowWebhooksLost',
    series: {
      'sandflow_event_waits_ended{by="safety_poll"}': '0x20 1+1x15 16x70',
      'sandflow_event_waits_ended{by="webhook"}': '0+1x20 20x85',
    },
    quiet: [20, 95],
    firing: 40,
  },
  {
    alert: 'SandflowWakesLate',
    series: {
      ...lateEvents('5', false),
      ...lateEvents('10', false),
      ...lateEvents('30', true),
      ...lateEvents('+Inf', true),
    },
    quiet: [15, 85],
    firing: 36,
  },
  {
    alert: 'SandflowStopFails',
    series: {
      sandflow_failing_stop_seconds_count: '0x10 1+1x60 61x40',
      'sandflow_failing_stop_seconds_bucket{le="1800"}': '0x10 1+1x30 31x70',
    },
    quiet: [30, 105],
    firing: 55,
  },
  {
    alert: 'SandflowBlocked',
    series: {
      'sandflow_blocked_seconds_count{reason="service_refuses",code="billing_required"}': '0x10 1+1x40 41x60',
      'sandflow_blocked_seconds_bucket{reason="service_refuses",code="billing_required",le="600"}': '0x10 1+1x10 11x90',
    },
    quiet: [18, 95],
    firing: 40,
  },
  {
    alert: 'SandflowWorkFails',
    series: {
      'sandflow_work_ended{kind="item",outcome="prompt_failed"}': '0x10 1+1x10 11x70',
      'sandflow_work_ended{kind="item",outcome="completed"}': '0+1x5 5x85',
    },
    quiet: [9, 70],
    firing: 22,
  },
  {
    alert: 'SandflowBudgetSpent',
    series: { 'sandflow_work_ended{kind="batch",outcome="budget_spent"}': '_x20 1x70' },
    quiet: [10, 60],
    firing: 25,
  },
  {
    alert: 'SandflowServiceFails',
    series: {
      'sandflow_calls{status="503",code="unavailable"}': '0x10 1+5x30 151x50',
      'sandflow_calls{status="200",code="none"}': '0+5x90',
      'sandflow_calls{status="none",code="aborted"}': '0+5x90',
    },
    quiet: [8, 70],
    firing: 30,
  },
  {
    alert: 'SandflowRateLimited',
    series: {
      'sandflow_calls{status="429",code="rate_limited"}': '0x10 1+1x40 41x50',
      'sandflow_calls{status="200",code="none"}': '0+5x100',
    },
    quiet: [8, 85],
    firing: 40,
  },
  {
    alert: 'SandflowWorkersFull',
    series: {
      'temporal_worker_task_slots_available{worker_type="ActivityWorker",task_queue="q"}': '100x10 0x20 50x40',
    },
    quiet: [5, 18, 45],
    firing: 25,
  },
  {
    alert: 'SandflowNotificationsLost',
    series: { sandflow_notifications_given_up: '_x20 1x70' },
    quiet: [10, 60],
    firing: 25,
  },
  {
    alert: 'SandflowDataExpires',
    series: { 'sandflow_cleanup_expiring{policy="nightly"}': '0x10 3x20 0x40' },
    quiet: [5, 40],
    firing: 20,
  },
];

/** What fires at a minute, and how often. */
const firing = (minute: number, alerts: readonly string[]) => ({
  expr: 'count by (alertname) (ALERTS{alertstate="firing"})',
  eval_time: `${minute}m`,
  exp_samples: alerts.map((alert) => ({ labels: `{alertname="${alert}"}`, value: 1 })),
});

function testRules({ alert, series, quiet, firing: at }: Fault) {
  const folder = mkdtempSync(join(tmpdir(), 'sandflow-alerts-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const tests = [
    {
      interval: '1m',
      input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
      promql_expr_test: [firing(at, [alert]), ...quiet.map((minute) => firing(minute, []))],
    },
  ];
  const file = join(folder, 'tests.json');
  writeFileSync(file, JSON.stringify({ rule_files: [join(repository, alertsFile)], evaluation_interval: '1m', tests }));
  return promtool(['test', 'rules', file]);
}

describe('the alerts', () => {
  test.for([
    ['rules', alertsFile],
    ['config', 'deploy/monitoring/prometheus.yml'],
  ])('promtool accepts the %s', ([kind = '', file = ''], { skip }) => {
    skip(isMissing, whyMissing);
    const { status, stdout, stderr } = promtool(['check', kind, file]);
    expect(status, stdout + stderr).toBe(0);
  });

  test('each has a fault below', () => {
    expect(faults.map(({ alert }) => alert)).toEqual(rules().map(({ alert }) => alert));
  });

  test.for(faults)('$alert fires once in its fault, and neither before nor after it', (fault, { skip }) => {
    skip(isMissing, whyMissing);
    const { status, stdout, stderr } = testRules(fault);
    expect(status, stdout + stderr).toBe(0);
  });

  test('each says what is wrong and what to do', () => {
    for (const { alert, annotations } of rules()) {
      expect(Object.keys(annotations), alert).toEqual(['summary', 'action']);
    }
  });
});

test('the page names every metric that the dashboard and the alerts use', () => {
  const documented = documentedMetrics();
  expect(usedMetrics().filter((name) => !documented.includes(name))).toEqual([]);
});

test('the dashboard asks in every panel, and says of each what it shows', () => {
  expect(panels().filter(({ targets }) => targets.length === 0)).toEqual([]);
  expect(new Set(panels().map(({ title }) => title)).size).toBe(panels().length);
  expect(readSource('deploy/monitoring/dashboard.json')).toContain('"uid": "sandflow"');
});

/** Prints the numbers as tables for people. */
import { median } from './measure/quantiles.js';
import type { ConcurrentJobs, Round } from './parts/concurrent-jobs.js';
import type { DownloadCost } from './parts/downloads.js';
import type { FanoutCost } from './parts/fanout.js';
import type { FollowedPrompts } from './parts/followed-prompts.js';
import type { CallCost, ServiceLoad } from './parts/local-service.js';
import type { MachineCost, StartTimes } from './parts/machines.js';
import type { RunningPrompts } from './parts/running-prompts.js';
import type { WaitingJobs } from './parts/waiting-jobs.js';
import type { Part } from './stand.js';

type Row = readonly (string | number)[];

/** A Markdown table. */
export function table(head: Row, rows: readonly Row[]): string {
  const all = [head, ...rows].map((row) => row.map(String));
  const widths = head.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]) =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  const [first = [], ...rest] = all;
  return [line(first), `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`, ...rest.map(line)].join('\n');
}

const round = (value: number, digits = 0) => value.toFixed(digits);
const pair = (a: number, b: number, digits = 0) => `${round(a, digits)} / ${round(b, digits)}`;

export function describeJobs(measured: readonly ConcurrentJobs[]): string {
  const head = ['', ...measured.map(({ jobs, temporal }) => `${jobs} at once${temporal === 'file' ? ', file' : ''}`)];
  const row = (name: string, cell: (one: ConcurrentJobs) => string): Row => [name, ...measured.map(cell)];
  return table(head, [
    row('API calls per job', (one) => round(one.callsPerJob, 1)),
    row('... of a script that polls every 500 ms', (one) => round(one.callsPerScriptedJob, 1)),
    row('ready webhook → prompt, p50 / p95 ms', ({ wake }) => pair(wake.ready.p50Ms, wake.ready.p95Ms)),
    row('archived webhook → read, p50 / p95 ms', ({ wake }) => pair(wake.archived.p50Ms, wake.archived.p95Ms)),
    row('floor: signal → activity, p50 / p95 ms', ({ wake }) => pair(wake.floor.p50Ms, wake.floor.p95Ms)),
    row('ready → prompt beside the floor', ({ wake }) => `${round(wake.readyToFloor, 2)} times`),
    row('... sent → signal → task → commands → activity → request, ms', ({ stages }) =>
      [stages.toSignalMs, stages.toTaskMs, stages.toCommandsMs, stages.toActivityMs, stages.toRequestMs]
        .map((ms) => round(ms))
        .join(' + '),
    ),
    row('workflow tasks / events per job', ({ history }) => pair(history.job.workflowTasks, history.job.events)),
    row('... per bare workflow', ({ history }) => pair(history.bare.workflowTasks, history.bare.events)),
    row('workflow tasks that timed out, per job', ({ history }) => round(history.job.timedOutTasks, 2)),
    row('jobs a second, best / median', (one) => throughput(one.jobRounds)),
    row('... bare workflows', (one) => throughput(one.bareRounds)),
    row('CPU ms per job: engine, best / median', (one) => cpuMs(one.jobRounds, 'engine')),
    row('... bare', (one) => cpuMs(one.bareRounds, 'engine')),
    row('CPU ms per job: worker, best / median', (one) => cpuMs(one.jobRounds, 'worker')),
    row('... bare', (one) => cpuMs(one.bareRounds, 'bareWorker')),
    row('CPU ms per job: bridge, best / median', (one) => cpuMs(one.jobRounds, 'bridge')),
    row('CPU ms per job: local service, best / median', (one) => cpuMs(one.jobRounds, 'service')),
  ]);
}

function throughput(rounds: readonly Round[]): string {
  const perSecond = rounds.map((one) => one.perSecond);
  return pair(Math.max(...perSecond), median(perSecond), 1);
}

function cpuMs(rounds: readonly Round[], part: Part): string {
  const ms = rounds.map(({ cpuSecondsEach }) => cpuSecondsEach[part] * 1_000);
  return pair(Math.min(...ms), median(ms));
}

export function describeWaiting(waiting: WaitingJobs): string {
  const { jobs, cacheSize, workerMb, wakeCpuMs, callsPerJobAndHour: calls } = waiting;
  return table(
    [`${jobs} jobs waiting`, ''],
    [
      ...waiting.polls.map(
        (one): Row => [
          `calls per waiting job in the window, bridge ${one.bridge}: measured / by the schedule`,
          pair(one.measuredCallsPerJob, one.expectedCallsPerJob, 2),
        ],
      ),
      ['calls per waiting job and hour by the schedule: first hour / later', pair(calls.first, calls.later)],
      [
        `worker memory before / with all waiting, cache of ${cacheSize}`,
        `${pair(workerMb.before, workerMb.waiting)} MB`,
      ],
      ['engine memory with all waiting', `${round(waiting.engineMb)} MB`],
      ['worker CPU per wake: in memory / replayed first', `${pair(wakeCpuMs.cached, wakeCpuMs.replayed, 1)} ms`],
      ['... of which the replay', `${round(wakeCpuMs.replayed - wakeCpuMs.cached, 1)} ms`],
      ['started a second', round(waiting.startedPerSecond, 1)],
    ],
  );
}

export function describeRunning(measured: readonly RunningPrompts[]): string {
  return table(
    ['prompts running', 'calls a minute', 'worker CPU %', 'engine CPU %', 'worker MB'],
    measured.map((one) => [
      one.prompts,
      round(one.callsPerMinute),
      round(one.workerCpuPercent, 1),
      round(one.engineCpuPercent, 1),
      round(one.workerMb),
    ]),
  );
}

export function describeFollowed({ prompts, completed, promptsSent, lists, ends }: FollowedPrompts): string {
  const beside = lists[0]?.perMinute ?? Number.NaN;
  return table(
    [`${prompts} prompts that the follower follows`, ''],
    [
      ...lists.map(
        ({ workers, perMinute, othersPerMinute }): Row => [
          `${workers} workers: lists a minute, beside the first; other calls a minute`,
          `${round(perMinute, 1)}, ${round(perMinute / beside, 2)} times; ${round(othersPerMinute, 1)}`,
        ],
      ),
      ...ends.map(
        ({ how, prompts: of, toldS, nextRoundS }): Row => [
          `its worker is ${how}: until the next round; end of a prompt → signal, p50 / at most`,
          `${round(nextRoundS, 1)} s; ${pair(toldS.p50, toldS.most, 1)} s, ${of} prompts`,
        ],
      ),
      ['jobs completed; prompts sent', `${completed}; ${promptsSent}`],
    ],
  );
}

export function describeService(measured: readonly ServiceLoad[]): string {
  const [first] = measured;
  const cost = ({ perSecond, p50Ms, p99Ms }: CallCost) =>
    `${round(perSecond)} a second, ${round(p50Ms, 1)} / ${round(p99Ms, 1)} ms`;
  const growth = (name: 'get' | 'create' | 'list' | 'page'): Row => [
    `${name}: p50 beside the first column`,
    ...measured.map((one) => `${round(one[name].p50Ms / (first?.[name].p50Ms ?? Number.NaN), 2)} times`),
  ];
  const row = (text: string, name: 'get' | 'create' | 'list' | 'page'): Row => [
    `${text}: calls, p50 / p99`,
    ...measured.map((one) => cost(one[name])),
  ];
  return table(
    ['sandboxes on the books', ...measured.map(({ sandboxes }) => sandboxes)],
    [
      row('get', 'get'),
      row('create', 'create'),
      row('list, a page of 50', 'page'),
      row('list, whole', 'list'),
      growth('get'),
      growth('create'),
      growth('page'),
      growth('list'),
      ['memory of the service', ...measured.map(({ serviceMb }) => `${round(serviceMb)} MB`)],
    ],
  );
}

export function describeMachines(measured: readonly MachineCost[]): string {
  const row = (name: string, cell: (one: MachineCost) => string): Row => [name, ...measured.map(cell)];
  const times = ({ p50Ms, p95Ms }: StartTimes) => pair(p50Ms, p95Ms);
  const ratio = (one: StartTimes, other: StartTimes) =>
    `${round(one.p50Ms / other.p50Ms, 2)} / ${round(one.p95Ms / other.p95Ms, 2)} times`;
  return table(
    ['machines of sandboxes', ...measured.map(({ sandboxes, atOnce }) => `${sandboxes}, ${atOnce} at once`)],
    [
      row('first command, p50 / p95 ms', ({ machine }) => times(machine.first)),
      row('... a bubblewrap of its own, with a new network', ({ bubblewrap }) => times(bubblewrap.first)),
      row('... the former beside the latter', ({ machine, bubblewrap }) => ratio(machine.first, bubblewrap.first)),
      row('later command, p50 / p95 ms', ({ machine }) => times(machine.later)),
      row('... a bubblewrap of its own, in an open network', ({ bubblewrap }) => times(bubblewrap.later)),
      row('... the former beside the latter', ({ machine, bubblewrap }) => ratio(machine.later, bubblewrap.later)),
      row('memory of each: idle / running', ({ idleMb, runningMb }) => `${pair(idleMb, runningMb, 2)} MB`),
    ],
  );
}

export function describeDownloads(measured: readonly DownloadCost[]): string {
  return table(
    ['download', 'MiB', 'seconds', 'more memory in the client', 'more memory in the service'],
    measured.map(({ what, sizeMb, seconds, clientMb, serviceMb }) => [
      what,
      sizeMb,
      round(seconds, 1),
      `${round(clientMb)} MB`,
      `${round(serviceMb)} MB`,
    ]),
  );
}

export function describeFanouts(measured: readonly FanoutCost[]): string {
  const row = (name: string, cell: (one: FanoutCost) => string): Row => [name, ...measured.map(cell)];
  return table(
    ['items of a batch', ...measured.map(({ items }) => items)],
    [
      row('items a second', (one) => round(one.perSecond, 1)),
      row('... of a script with a polling loop per fork', (one) => round(one.script.perSecond, 1)),
      row('API calls per item', (one) => round(one.callsPerItem, 1)),
      row('... of the script', (one) => round(one.script.callsPerItem, 1)),
      row(
        'events of the batch: in all / per item',
        ({ items, events }) => `${events.batch} / ${round(events.batch / items, 2)}`,
      ),
      row(
        'events of its chunks: in all / per item',
        ({ items, events }) => `${events.chunks} / ${round(events.chunks / items, 2)}`,
      ),
      row('events of an item', ({ events }) => round(events.item)),
      row('worker memory before / at most', ({ workerMb }) => `${pair(workerMb.before, workerMb.most)} MB`),
      row('CPU ms per item: engine / worker', ({ cpuMs }) => pair(cpuMs.engine, cpuMs.worker)),
      row('CPU ms per item: bridge / local service', ({ cpuMs }) => pair(cpuMs.bridge, cpuMs.service)),
    ],
  );
}

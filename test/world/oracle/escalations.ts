/** Promises about stops that escalate: each step acts at most once, announced, and never against a person or a job. */
import { isCreating, isUsable } from '../../../src/contract/workflow-safe/states.js';
import type { EscalationStepView } from '../../../src/protocol/stop.js';
import type { CallOfWorld } from '../stack/wire.js';
import { brokenStopEnds } from './escalation-ends.js';
import { type Broken, type Escalated, hasStruck, planOf, troublesOf, type WorldRecord } from './record.js';

export function brokenEscalations(record: WorldRecord): Broken[] {
  return record.told.flatMap((told) => {
    const plan = planOf(record, told.job);
    const [sandboxId] = told.given;
    if (plan?.kind !== 'stop' || plan.escalation === null || !told.stops || sandboxId === undefined) return [];
    const accepted = record.calls.filter(
      ({ job, call }) => job === told.job && call.sandboxId === sandboxId && !call.isRead && wasAccepted(call.answer),
    );
    const one: Escalated = { plan, told, sandboxId, accepted, ...told.stops };
    const broken = (promise: string, what: string): Broken => ({ promise, job: told.job, what });
    return [
      ...twice(record, one).map((what) => broken('no step acts twice', what)),
      ...unannounced(one).map((what) => broken('a step is announced before it acts', what)),
      ...early(record, one).map((what) => broken('steps keep their times', what)),
      ...againstPeople(record, one).map((what) => broken('a person who resumes keeps the sandbox', what)),
      ...againstLeases(record, one).map((what) => broken('what is in use is not cleaned up', what)),
      ...leftRunning(record, one).map((what) => broken('no machine leaked', what)),
      ...brokenStopEnds(record, one).map(({ what, late }) => ({ ...broken('the result says what is', what), late })),
    ];
  });
}

const wasAccepted = (answer: unknown) => typeof answer === 'object' && answer !== null && !('error' in answer);

const to = ({ accepted }: Escalated, endpoint: string) => accepted.filter(({ call }) => call.endpoint === endpoint);

/** A step that another request has carried out names that request. */
const isOwnStep = ({ announcedAt, why }: EscalationStepView) =>
  announcedAt !== null && why?.startsWith('the request ') !== true;

const begun = ({ views }: Escalated, action: EscalationStepView['action']) =>
  views.flatMap(({ escalation }) => escalation.filter((step) => step.action === action && isOwnStep(step)));

/** Old reads hide what a call has done. */
const areReadsOld = (record: WorldRecord, { told }: Escalated) =>
  troublesOf(record, told.job).some(({ kind }) => kind === 'lag');

function twice(record: WorldRecord, one: Escalated): string[] {
  if (areReadsOld(record, one)) return [];
  const { views, sandboxId } = one;
  const { books, traces } = record;
  const resumes = to(one, 'resumeSandbox').length;
  const deletions = to(one, 'deleteSandbox').length;
  const stops = books.stops.filter((stop) => stop.sandboxId === sandboxId).length;
  const byPeople = traces.stopped.filter((id) => id === sandboxId).length;
  const again = views.reduce((sum, { askedAgain }) => sum + askedAgain, 0);
  // Whoever asks after a person's resume gets a stop of its own.
  const mostStops = 1 + resumes + byPeople + again + (traces.resumed.has(sandboxId) ? one.plan.callers - 1 : 0);
  const mostResumes = begun(one, 'resume-and-stop').length;
  return [
    ...(resumes > mostResumes ? [`${resumes} resumes by ${mostResumes} steps`] : []),
    ...(deletions > 1 ? [`${deletions} deletions`] : []),
    ...(stops > mostStops ? [`${stops} stops, and at most ${mostStops} were due`] : []),
  ];
}

function unannounced(one: Escalated): string[] {
  const actions = { resumeSandbox: 'resume-and-stop', deleteSandbox: 'delete' } as const;
  return Object.entries(actions).flatMap(([endpoint, action]) => {
    const announcedAtMs = Math.min(...begun(one, action).map(({ announcedAt }) => Date.parse(announcedAt ?? '')));
    const [first] = to(one, endpoint);
    if (first === undefined || first.atMs >= announcedAtMs) return [];
    return [`${endpoint} came before any step "${action}" was announced`];
  });
}

/** Of the clocks of two processes of one machine. */
const slackMs = 100;

function early(record: WorldRecord, { views, sandboxId }: Escalated): string[] {
  if (hasStruck(record, ({ kind }) => kind === 'hours')) return [];
  const requestedAt = record.books.stops.filter((stop) => stop.sandboxId === sandboxId).map((stop) => stop.requestedAt);
  const firstMs = Math.min(...requestedAt.map((at) => Date.parse(at)));
  return views.flatMap(({ escalation }) =>
    escalation.flatMap((step, at) => {
      const before = escalation[at - 1];
      const isOfOthers = !isOwnStep(step);
      if (isOfOthers || step.announcedAt === null) return [];
      const spacedMs = before?.endedAt == null ? 0 : Date.parse(before.endedAt) + step.afterMs - before.afterMs;
      const earlyMs = Math.max(firstMs + step.afterMs, spacedMs) - Date.parse(step.announcedAt);
      return earlyMs > slackMs ? [`"${step.action}" came ${earlyMs} ms early`] : [];
    }),
  );
}

function againstPeople(record: WorldRecord, one: Escalated): string[] {
  const { sandboxId, acceptedAtMs, told } = one;
  const keptAtMs = record.traces.keeps.get(sandboxId);
  // A request that the service had not accepted may come after the resume.
  if (keptAtMs === undefined || acceptedAtMs === null || keptAtMs < acceptedAtMs || areReadsOld(record, one)) return [];
  const own = record.calls.filter(({ job, call }) => job === told.job && call.sandboxId === sandboxId);
  // A resume without an answer may be sandflow's, or may have met that of the person (decision 44).
  const isUnclear = own.some(
    ({ call, atMs }) => call.endpoint === 'resumeSandbox' && isLostOrMet(call, atMs, keptAtMs),
  );
  return one.accepted.flatMap(({ call, atMs }) => {
    if (atMs <= keptAtMs || (isUnclear && call.endpoint === 'stopSandbox')) return [];
    const check = own.findLast(
      (of) => of.atMs <= atMs && of.call.endpoint === 'getSandbox' && of.call.activity === call.activity,
    );
    if (check === undefined || check.atMs <= keptAtMs) return [];
    return [`${call.endpoint} came ${atMs - keptAtMs} ms after a person had resumed ${sandboxId}`];
  });
}

/** How long before a person's resume is shown a call may have met it. */
const meetsMs = 2_000;

const isLostOrMet = ({ struckBy }: CallOfWorld['call'], atMs: number, keptAtMs: number) =>
  struckBy !== null || (atMs <= keptAtMs && atMs > keptAtMs - meetsMs);

/** While a lease lasts, no step acts. A claim keeps leases out from the resume until the next stop is accepted. */
function againstLeases(record: WorldRecord, one: Escalated): string[] {
  const { traces } = record;
  // The holder is no workflow: the watch forgets it once it relays an event, which comes late only by a trouble.
  if (hasStruck(record, ({ kind }) => kind === 'webhook')) return [];
  const resumedAtMs = to(one, 'resumeSandbox')[0]?.atMs ?? Number.POSITIVE_INFINITY;
  const ofSteps = one.accepted.filter(({ call, atMs }) => call.endpoint !== 'stopSandbox' || atMs > resumedAtMs);
  const leases = traces.leases.filter(({ sandboxId }) => sandboxId === one.sandboxId);
  return ofSteps.flatMap(({ call, atMs }) => {
    const isLeased = leases.some(({ fromMs, untilMs }) => atMs > fromMs && atMs < untilMs - slackMs);
    return isLeased ? [`${call.endpoint} came while ${one.sandboxId} was leased`] : [];
  });
}

/** A machine that sandflow has resumed is stopped again, unless somebody uses it, or the result names it. */
function leftRunning({ books, traces, told, plan }: WorldRecord, one: Escalated): string[] {
  const { sandboxId, views } = one;
  const sandbox = books.sandboxes.find(({ id }) => id === sandboxId);
  const last = one.accepted.findLast(({ call }) => ['resumeSandbox', 'stopSandbox'].includes(call.endpoint));
  const runs =
    sandbox?.gone === null && (isUsable(sandbox.state) || isCreating(sandbox.state) || sandbox.state === 'error');
  if (!runs || last?.call.endpoint !== 'resumeSandbox') return [];
  const isNewcomer = (job: string) => !plan.jobs.some(({ key }) => key === job);
  const isUsed =
    traces.acted.has(sandboxId) || told.some(({ job, given }) => isNewcomer(job) && given.includes(sandboxId));
  const isTold = views.some(({ outcome, error }) => outcome === 'rejected' && error?.message.includes('may run'));
  return isUsed || isTold ? [] : [`left ${sandbox.state} after a resume of its escalation: ${sandboxId}`];
}

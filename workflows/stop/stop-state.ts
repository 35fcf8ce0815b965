/** The state of one stop workflow: its requests, its observations and its notifications. */
import { CancellationScope, log, metricMeter, setCurrentDetails } from '@temporalio/workflow';
import type { EscalationAction } from '../../src/protocol/escalation.js';
import type { JobTiming, NotifyTarget } from '../../src/protocol/job/job-input.js';
import type { Wake } from '../../src/protocol/job/job-result.js';
import type { CarriedStop, StopInput, StopRecord, StopReport, StopRequest } from '../../src/protocol/stop.js';
import { mustMoveOn } from '../shared/continue-as-new.js';
import { apiCalls } from '../shared/count-api-calls.js';
import { EventInbox, type InboxMark } from '../shared/event-inbox.js';
import { countEnd } from '../shared/metrics.js';
import type { Caller } from '../shared/retry-refusals.js';
import { sendNotification } from '../shared/send-notification.js';
import { defaultTiming } from '../shared/wait-intervals.js';
import { nextStep } from './escalation-steps.js';
import { cutText, describeStop, newStopRecord, type Settlement, settleRecord, viewOfRecord } from './request-record.js';

const keepEnded = 200;
const keepWakes = 20;
const keepResumes = 20;
/** Temporal accepts 2,000 updates and 10,000 signals per run, and refuses or loses any further ones. */
const mostUpdates = 1_000;
const mostSignals = 5_000;

export class StopWorkflowState {
  readonly inbox = new EventInbox();
  readonly timing: JobTiming;
  readonly carried: CarriedStop;
  /** Events up to this mark are handled. */
  since: InboxMark = 0;
  /** True while a bound stop has not been read in this run. */
  mustRead: boolean;
  /** True while the run prepares to continue as new. */
  isPausing = false;
  /** Counter of changes that must wake the main loop: requests that arrive, are bound, or end in parallel. */
  changes = 0;
  updates = 0;
  signals = 0;
  /** Number of calls and notifications that run in parallel with the main loop. */
  private underWay = 0;
  private readonly root = CancellationScope.current();
  private readonly asking = new Map<StopRecord, CancellationScope>();

  constructor(readonly input: StopInput) {
    this.timing = { ...defaultTiming, ...input.timing };
    this.carried = input.carried ?? { records: [], wakes: [] };
    this.mustRead = this.carried.records.length > 0;
  }

  get open(): StopRecord[] {
    return this.carried.records.filter(({ outcome }) => outcome === null);
  }

  get waiting(): StopRecord[] {
    return this.open.filter(({ stopId, isDeleting }) => stopId !== null && !isDeleting);
  }

  get isQuiet(): boolean {
    return this.underWay === 0;
  }

  /** Adds the record of a request. Safe to repeat: a known id returns the existing record. */
  take(request: StopRequest): { readonly record: StopRecord; readonly isNew: boolean } {
    const { records } = this.carried;
    const known = records.find((record) => record.request.requestId === request.requestId);
    if (known) return { record: known, isNew: false };
    const record = newStopRecord(request, Date.now());
    records.push(record);
    this.noteChange();
    return { record, isNew: true };
  }

  /** Runs `work` in parallel with the main loop; cancels it when the request ends or the run pauses. */
  inBackground(record: StopRecord, work: () => Promise<void>): void {
    // The scope is not a child of the check that starts it, because the check ends before the answer arrives.
    const scope = new CancellationScope({ cancellable: true, parent: this.root });
    this.asking.set(record, scope);
    this.track(scope.run(work).finally(() => this.asking.delete(record)));
  }

  settle(record: StopRecord, settlement: Settlement): void {
    if (record.outcome !== null) return;
    settleRecord(record, settlement, Date.now());
    countEnd('stop', { outcome: settlement.outcome, error: settlement.error ?? null });
    this.asking.get(record)?.cancel();
    void this.notify(record, 'ended', settlement.outcome, record.error?.message ?? null);
    // An ended request needs no further notifications, so continue-as-new need not carry their target.
    record.request = { ...record.request, notify: undefined };
    const { records } = this.carried;
    const ended = records.filter(({ outcome }) => outcome !== null);
    for (const old of ended.slice(0, -keepEnded)) records.splice(records.indexOf(old), 1);
    this.showDetails();
  }

  alert(record: StopRecord): void {
    record.alertedAtMs = Date.now();
    const { sandboxId } = this.input;
    const message = describeStop(record);
    log.warn('a stop has not ended in time', { sandboxId, stopId: record.stopId, seen: message });
    metricMeter.createCounter('sandflow_stop_alerts', undefined, 'Stops that did not end in time').add(1);
    void this.notify(record, 'stop_failing', null, message);
  }

  /** Tells of a step before it acts, or why it was left, by log, metric and notification. Returns once it is sent. */
  async tellOfStep(record: StopRecord, action: EscalationAction, message: string): Promise<void> {
    const { sandboxId } = this.input;
    log.warn('the escalation of a stop', { sandboxId, stopId: record.stopId, action, message });
    metricMeter
      .createCounter('sandflow_stop_escalations', undefined, 'Steps of escalations that were begun or left')
      .add(1, { action });
    await this.notify(record, 'stop_escalating', null, message);
  }

  noteResume(stopId: string): void {
    this.carried.resumedFrom = [...(this.carried.resumedFrom ?? []), stopId].slice(-keepResumes);
  }

  /** True if a resume of this workflow has ended the stop. */
  hasResumedFrom(stopId: string | undefined): boolean {
    return stopId !== undefined && (this.carried.resumedFrom ?? []).includes(stopId);
  }

  /** True if a step of a request may have resumed or deleted the sandbox of this stop, although no answer says so. */
  hasSentStep(stopId: string | null): boolean {
    return this.waiting.some((record) => record.stopId === stopId && nextStep(record)?.sent != null);
  }

  /** Ends or interrupts all requests in progress, so that the next run can continue from a known state. */
  pause(): void {
    this.isPausing = true;
    for (const scope of this.asking.values()) scope.cancel();
  }

  noteChange(): void {
    this.changes += 1;
    this.showDetails();
  }

  /** True if history, updates or signals have reached the limit for continue-as-new. */
  get isFull(): boolean {
    const { maxHistoryEvents, maxMessages = Number.POSITIVE_INFINITY } = this.input;
    if (mustMoveOn(maxHistoryEvents)) return true;
    return this.updates >= Math.min(mostUpdates, maxMessages) || this.signals >= Math.min(mostSignals, maxMessages);
  }

  showDetails(): void {
    const lines = this.open.map((record) => `${record.request.requestId}: ${describeStop(record)}`);
    setCurrentDetails([`Sandbox ${this.input.sandboxId}`, ...lines.slice(0, 20)].join('\n\n'));
  }

  readonly onWake = (wake: Wake): void => {
    this.carried.wakes = [...this.carried.wakes, wake].slice(-keepWakes);
  };

  /** The caller for one request, or, without one, for all waiting requests. */
  callerFor(record?: StopRecord): Caller {
    const stop = this;
    const concerned = () => (record ? [record] : this.waiting);
    return {
      input: { jobId: null },
      sandbox: { id: this.input.sandboxId },
      get blocked() {
        return concerned()[0]?.blocked ?? null;
      },
      block(blocked) {
        for (const one of concerned()) {
          const message = cutText(blocked.message);
          one.blocked = { ...blocked, message, since: new Date().toISOString() };
          void stop.notify(one, 'blocked', null, message);
        }
        stop.showDetails();
      },
      unblock() {
        for (const one of concerned()) one.blocked = null;
      },
    };
  }

  report(): StopReport {
    const { records, wakes } = this.carried;
    const { sandboxId } = this.input;
    return { sandboxId, requests: records.map(viewOfRecord), wakes, apiCalls: apiCalls() };
  }

  /** The input of the next run. */
  carry(): StopInput {
    return { ...this.input, carried: this.carried };
  }

  private notify(
    record: StopRecord,
    event: 'ended' | 'blocked' | 'stop_failing' | 'stop_escalating',
    outcome: string | null,
    text: string | null,
  ): Promise<void> {
    const notify: NotifyTarget | undefined = record.request.notify;
    if (!notify) return Promise.resolve();
    const caller: Caller = { ...this.callerFor(record), input: { jobId: null, notify } };
    const sent = CancellationScope.nonCancellable(() => sendNotification(caller, event, outcome, text));
    this.track(sent);
    return sent;
  }

  private track(work: Promise<void>): void {
    this.underWay += 1;
    const over = () => {
      this.underWay -= 1;
    };
    work.then(over, over);
  }
}

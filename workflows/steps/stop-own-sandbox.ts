/** Stops the sandbox of a job at its end; confirmed by a read. */
import type { StopView } from '../../src/contract/sandbox-view.js';
import type { StopResult } from '../job.js';
import { effects, reads } from '../proxies.js';
import { until } from '../until.js';
import type { JobRun } from './job-run.js';
import { keptOf } from './kept.js';
import { patiently } from './patiently.js';
import { readSandbox } from './wait-usable.js';

/** Stops the sandbox and waits until it is archived. The result tells what the service kept. */
export async function stopSandbox(run: JobRun, sandboxId: string): Promise<void> {
  run.enter('stopping');
  const since = run.inbox.mark();
  const { previousStopId } = run;
  const answer = await patiently(run, 'stop', () =>
    effects.stopSandbox.executeWithOptions({ summary: `stop ${sandboxId}` }, [{ sandboxId, previousStopId }]),
  );
  if (answer === 'gone') {
    run.stop = { stopId: null, status: 'gone', kept: null, error: null };
    return;
  }
  const { stop } = answer;
  run.stop = { stopId: stop.id, status: stop.status, kept: null, error: stop.error };
  run.enter('waiting_for_archive');
  const ended = await until<StopResult>(sandboxId, {
    inbox: run.inbox,
    timing: run.timing,
    onWake: run.onWake,
    waitedFor: 'archived',
    wakeOn: ['sandbox.archived'],
    since,
    // An event carries no stop id, and a late one of an earlier stop looks the same (trap S6).
    read: () => readStop(run, sandboxId, stop),
    readFirst: stop.status === 'completed',
  });
  if (ended) run.stop = ended;
}

/**
 * One read of the sandbox confirms its last stop by id and says what was kept. Where the last stop is another one by
 * now, ours is read by its own id.
 */
async function readStop(run: JobRun, sandboxId: string, asked: StopView): Promise<StopResult | undefined> {
  const sandbox = await readSandbox(run, sandboxId);
  const isLast = sandbox?.stop?.id === asked.id;
  const stop = isLast ? sandbox.stop : await patiently(run, 'read', () => reads.getStop(sandboxId, asked.id));
  if (!stop) return { stopId: asked.id, status: 'gone', kept: null, error: null };
  run.stop = { stopId: stop.id, status: stop.status, kept: null, error: stop.error };
  if (stop.status === 'superseded') return run.stop;
  if (stop.status !== 'completed') return undefined;
  return { ...run.stop, kept: sandbox ? keptOf(sandbox, asked) : null };
}

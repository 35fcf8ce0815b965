/** Starts and stops all background work: prompts, scheduled work, deliveries, samples, SSH. */
import type { Context } from '../core/context.js';
import type { ProcessSampler } from '../processes/sampler.js';
import { recoverPrompts } from '../prompts/runner.js';
import { continueCopies } from '../sandboxes/background-copy.js';
import { reopenSsh } from '../sandboxes/ssh-access.js';
import { scheduleSnapshots } from '../snapshots/periodic.js';
import type { Deliverer } from '../webhooks/deliverer.js';
import type { Scheduler } from './scheduler.js';
import { scheduleHousekeeping, workHandlers } from './work-handlers.js';

export interface BackgroundWork {
  readonly context: Context;
  readonly scheduler: Scheduler;
  readonly sampler: ProcessSampler;
  readonly deliverer: Deliverer;
}

/**
 * Recovers unfinished work, for example after a kill. Called before the service answers requests.
 * @returns a function that starts the work
 */
export async function startAllWork({ context, scheduler, deliverer, sampler }: BackgroundWork): Promise<() => void> {
  await continueCopies(context);
  const waiting = recoverPrompts(context);
  await reopenSsh(context);
  return () => {
    for (const sandboxId of waiting) context.prompts.wake(sandboxId);
    scheduler.start(workHandlers(context));
    scheduleHousekeeping(context);
    scheduleSnapshots(context);
    deliverer.start();
    sampler.start();
  };
}

/** Interrupts every prompt, ends every process and session, and waits until nothing runs. Safe to repeat. */
export async function stopAllWork({ context, scheduler, deliverer, sampler }: BackgroundWork): Promise<void> {
  const { stores, host } = context;
  for (const { id } of stores.sandboxes.living()) context.prompts.interrupt(id);
  // No work begins from here on, which could begin a copy again.
  const worked = scheduler.stop();
  await host.endRestore();
  // Processes end first: a setup script may run for hours, and the scheduler waits for it.
  for (const { id } of stores.sandboxes.all({})) await host.endProcesses(id);
  await context.ssh.closeAll();
  await Promise.all([worked, sampler.stop(), deliverer.stop(), context.prompts.idle()]);
  // A boot that was under way may have opened a port in between.
  await context.ssh.closeAll();
}

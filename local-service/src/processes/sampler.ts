/** Samples the processes of usable sandboxes at set times (specification, "Limits": every 30 s). */
import { isUsable } from '../../../src/contract/workflow-safe/states.js';
import type { Core } from '../core/context.js';
import { reasonOf } from '../log.js';
import type { StartWatch } from '../machine/start-watch.js';
import { keepSample } from './samples.js';

export type ProcessSampler = ReturnType<typeof createProcessSampler>;

export function createProcessSampler(core: Core, watch: StartWatch) {
  const { stores, clock, timings, log, closing } = core;
  let cancel: (() => void) | undefined;
  let underWay: Promise<void> | undefined;

  function plan(): void {
    cancel?.();
    // If a test advances the clock by days, all samples in this time would be equal, so they are skipped.
    cancel = clock.at(clock.now() + timings.processSampleMs, begin, { passedOver: true });
  }

  function begin(): void {
    plan();
    underWay ??= sampleAll().finally(() => {
      underWay = undefined;
    });
  }

  /** Samples one sandbox after another, so that sampling does not delay calls. */
  async function sampleAll(): Promise<void> {
    for (const sandboxId of watch.running()) {
      const sandbox = stores.sandboxes.get(sandboxId);
      if (closing.aborted) return;
      if (!sandbox || !isUsable(sandbox.state)) continue;
      try {
        await watch.check(sandboxId, () => keepSample(core, sandbox));
      } catch (cause) {
        log('the processes of a sandbox could not be sampled', { sandboxId, reason: reasonOf(cause) });
      }
      await new Promise(setImmediate);
    }
  }

  return {
    /** Plans the next sample. Another call replaces the plan. */
    start: plan,
    /** Cancels the next sample and waits for the sample that is being taken. */
    async stop() {
      cancel?.();
      cancel = undefined;
      await underWay;
    },
    /** True while a sample is being taken. */
    busy: () => underWay !== undefined,
    async idle() {
      await underWay;
    },
  };
}

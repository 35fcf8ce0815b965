/** What can be asked of a job while it runs, and what it is told. */
import { ApplicationFailure, setHandler } from '@temporalio/workflow';
import { progressQuery, promptUpdate, resolveUpdate, sandboxEventSignal, skipCollectingSignal } from '../messages.js';
import type { JobRun } from './job-run.js';

export function handleMessages(run: JobRun): void {
  setHandler(sandboxEventSignal, (event) => run.inbox.record(event));
  setHandler(progressQuery, () => run.progress());
  setHandler(skipCollectingSignal, () => {
    run.skipsCollecting = true;
    run.onSkipCollecting?.();
  });
  setHandler(promptUpdate, (step) => ({ index: run.addPrompt(step) }), {
    validator(step) {
      if (!run.takesPrompts) throw refused('This job takes no prompts any more: it is ending.');
      if (step.prompt.trim() === '') throw refused('The prompt is empty.');
    },
  });
  setHandler(
    resolveUpdate,
    (resolution) => {
      run.resolution = resolution;
      return { step: run.blocked?.step ?? '' };
    },
    {
      validator(resolution) {
        if (run.blocked?.reason !== 'outcome_unknown') throw refused('This job waits for no such decision.');
        if (run.resolution !== null) throw refused('This was decided a moment ago.');
        if (resolution.action === 'sent' && run.blocked.step === 'create' && resolution.sandboxId === undefined) {
          throw refused('Say which sandbox the create has made.');
        }
      },
    },
  );
}

function refused(message: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(message, 'refused');
}

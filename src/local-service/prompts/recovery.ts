/** What a start does about what the process before it left open, whether it ended or was killed. */
import type { Context } from '../core/context.js';
import { end, settle } from './runner.js';

/**
 * Puts prompts that were running back where their agent can go on, and ends the others: running them again could do
 * their work twice. Everything else goes on by itself: it is in the work and delivery queues.
 * @returns the sandboxes whose queued prompts wait for `wake`
 */
export function recoverPrompts(context: Context): ReadonlySet<string> {
  const { stores } = context;
  const touched = new Set<string>();
  context.database.transaction(() => {
    for (const prompt of stores.prompts.allOpen()) {
      touched.add(prompt.sandboxId);
      if (prompt.status !== 'running') continue;
      if (context.agentOf(prompt.provider)?.canGoOn) {
        stores.prompts.requeue(prompt.id);
        continue;
      }
      end(context, prompt, {
        status: 'failed',
        endedAt: context.clock.iso(),
        result: null,
        error: 'The service was restarted while this prompt was running. How far it came is not known.',
      });
    }
    for (const sandbox of stores.sandboxes.living()) if (sandbox.state === 'running') settle(context, sandbox.id);
  });
  return touched;
}

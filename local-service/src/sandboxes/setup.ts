/**
 * The setup of a usable sandbox (specification, fields `setupStatus` and `setupError`): the scripts of its repositories
 * that do not block, then the script of its create.
 */
import { isUsable } from '../../../src/contract/workflow-safe/states.js';
import { changeSandbox } from '../core/change-sandbox.js';
import type { Context } from '../core/context.js';
import { machineEnvironment } from '../environments/on-machine.js';
import type { SandboxRecord } from '../store/sandbox-record.js';
import type { Work } from '../store/work-store.js';
import { backgroundScripts } from './repositories.js';
import { runSetupScript } from './setup-script.js';

/** Between two attempts to start a script. */
const startAgainMs = 1_000;

/** The work `setup`: runs the scripts once, in the background of a usable sandbox. */
export async function setUp(context: Context, { subject, token }: Work): Promise<void> {
  const sandbox = context.stores.sandboxes.get(subject);
  if (!sandbox || sandbox.setupStatus === null) return;
  if (sandbox.setupStatus === 'running') {
    // Work is started again only if the service that started it has ended. Its processes have then ended too.
    finish(context, subject, 'The service was restarted while the setup script was running.');
    return;
  }
  // If a stop came first, the next boot schedules the script again.
  if (sandbox.setupStatus !== 'pending' || !isUsable(sandbox.state)) return;
  if (context.faults.take('setup_start_fails')) {
    context.database.transaction(() => {
      changeSandbox(context, sandbox, { setupError: 'The setup script could not be started.' });
      context.schedule('setup', subject, token, context.clock.now() + startAgainMs);
    });
    return;
  }
  changeSandbox(context, sandbox, { setupStatus: 'running', setupError: null });
  const problem = await runScripts(context, sandbox);
  if (!context.closing.aborted) finish(context, subject, problem);
}

/** @returns the first problem; null if there is none */
async function runScripts(context: Context, sandbox: SandboxRecord): Promise<string | null> {
  const env = machineEnvironment(context, sandbox);
  for (const { of, script, cwd } of backgroundScripts(context, sandbox)) {
    const problem = await runSetupScript(context, sandbox.id, { script, cwd, env });
    if (problem !== null) return `The setup script of ${of} failed: ${problem}`;
  }
  const { setupScript: script } = sandbox;
  return script === null ? null : await runSetupScript(context, sandbox.id, { script, env });
}

function finish(context: Context, sandboxId: string, problem: string | null): void {
  const sandbox = context.stores.sandboxes.get(sandboxId);
  if (!sandbox) return;
  changeSandbox(context, sandbox, { setupStatus: problem === null ? 'done' : 'failed', setupError: problem });
}

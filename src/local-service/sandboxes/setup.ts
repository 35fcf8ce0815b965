/** The create-time setup script (specification, fields `setupStatus` and `setupError`). */
import { isUsable } from '../../contract/workflow-safe/states.js';
import { changeSandbox } from '../core/change-sandbox.js';
import type { Context } from '../core/context.js';
import { machineEnvironment } from '../environments/on-machine.js';
import { reasonOf } from '../log.js';
import { refuseLongCommand } from '../machine/isolation/launch.js';
import type { Work } from '../store/work-store.js';

const stderrTail = 2_000;
/** Between two attempts to start a script. */
const startAgainMs = 1_000;

/**
 * Runs the script from a variable and not from an argument: every user of this machine may list arguments. The script's
 * own programs do not get the variable.
 */
const scriptVariable = 'SANDBOX_SETUP_SCRIPT';
const runScript = `eval "unset ${scriptVariable}; $${scriptVariable}"`;

/** The work `setup`: runs the script once, in the background of a usable sandbox. */
export async function setUp(context: Context, { subject, token }: Work): Promise<void> {
  const sandbox = context.stores.sandboxes.get(subject);
  if (!sandbox || sandbox.setupScript === null) return;
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
  let problem: string | null;
  try {
    refuseLongCommand(sandbox.setupScript);
    const { exitCode, stderr } = await context.host.run(subject, {
      command: runScript,
      env: { ...machineEnvironment(context, sandbox), [scriptVariable]: sandbox.setupScript },
    });
    const end = exitCode === null ? 'killed by a signal' : `exit code ${exitCode}`;
    problem = exitCode === 0 ? null : `${end}: ${stderr.slice(-stderrTail)}`;
  } catch (cause) {
    problem = reasonOf(cause);
  }
  if (!context.closing.aborted) finish(context, subject, problem);
}

function finish(context: Context, sandboxId: string, problem: string | null): void {
  const sandbox = context.stores.sandboxes.get(sandboxId);
  if (!sandbox) return;
  changeSandbox(context, sandbox, { setupStatus: problem === null ? 'done' : 'failed', setupError: problem });
}

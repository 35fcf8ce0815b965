/** Runs one setup script in a sandbox. */
import type { Core } from '../core/context.js';
import { reasonOf } from '../log.js';
import { refuseLongCommand } from '../machine/isolation/launch.js';
import { whyItFailed } from './why-it-failed.js';

/**
 * Runs the script from a variable and not from an argument: every user of this machine may list arguments. The script's
 * own programs do not get the variable.
 */
const scriptVariable = 'SANDBOX_SETUP_SCRIPT';
const runScript = `eval "unset ${scriptVariable}; $${scriptVariable}"`;

interface SetupScript {
  readonly script: string;
  readonly env: Readonly<Record<string, string>>;
  /** Default: the home. */
  readonly cwd?: string;
}

/** Never throws. Not safe to repeat. @returns why it failed; null if it did not */
export async function runSetupScript(
  { host }: Pick<Core, 'host'>,
  sandboxId: string,
  { script, env, cwd }: SetupScript,
): Promise<string | null> {
  try {
    refuseLongCommand(script);
    const command = { command: runScript, env: { ...env, [scriptVariable]: script }, ...(cwd && { cwd }) };
    return whyItFailed(await host.run(sandboxId, command), env);
  } catch (cause) {
    return reasonOf(cause);
  }
}

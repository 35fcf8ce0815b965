import { SandflowError } from '../../contract/workflow-safe/sandflow-error.js';
import { agreeOnKeys, deploymentKeys } from '../../temporal/deployment-keys.js';
import type { CommandContext } from '../command.js';
import { openEncryption } from '../connect/encryption.js';
import { withPlatform } from '../connect/with-platform.js';
import { printJson } from '../output/json.js';
import { oneLine, setIn } from '../output/terminal-safe.js';

export function showEncryption({ json }: { readonly json?: boolean }, context: CommandContext): Promise<void> {
  const { io } = context;
  return withPlatform(context, { keysMayDiffer: true }, async ({ temporal, config }) => {
    const { ring } = await openEncryption(config);
    const known = await deploymentKeys(temporal, config.deployment);
    const here = ring?.keys.map(({ id }) => id) ?? [];
    const deployment = known ? { current: known.current, keys: Object.keys(known.checks) } : null;
    const problem = await problemWith(agreeOnKeys(temporal, { deployment: config.deployment, ring }));
    if (json) return printJson(io.stdout, { here, deployment, problem, error: null });
    io.stdout.write(`here:        ${here.join(', ') || 'no keys'}\n`);
    io.stdout.write(
      `deployment:  ${deployment ? oneLine(`${deployment.keys.join(', ')}; encrypts with ${deployment.current}`) : 'no keys'}\n`,
    );
    if (problem !== null) io.stdout.write(`problem:     ${setIn(problem)}\n`);
  });
}

/** Why processes with these keys would not start; null if they would start. */
async function problemWith(agreeing: ReturnType<typeof agreeOnKeys>): Promise<string | null> {
  try {
    const agreement = await agreeing;
    return agreement.kind === 'agreed' ? null : `The keys cannot be read from Temporal: ${agreement.reason}`;
  } catch (error) {
    if (error instanceof SandflowError) return error.message;
    throw error;
  }
}

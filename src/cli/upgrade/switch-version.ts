/** `sandflow upgrade switch`: the version that new jobs start with. */
import { buildIdProblem } from '../../addresses/addresses.js';
import { switchVersion } from '../../temporal/worker-versions.js';
import type { CommandContext } from '../command.js';
import { withPlatform } from '../connect/with-platform.js';
import { UsageError } from '../usage-error.js';

export async function switchTo(version: string, context: CommandContext): Promise<void> {
  const problem = buildIdProblem(version);
  if (problem !== undefined) throw new UsageError(`The version ${problem}.`);
  await withPlatform(context, {}, ({ temporal, config: { taskQueue } }) => switchVersion(temporal, taskQueue, version));
  context.io.stdout.write(`New jobs start with ${version}. Those that run stay with their version.\n`);
}

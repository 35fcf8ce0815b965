/** `sandflow upgrade check`: whether this build can continue what runs. */
import { installErrorLogger } from '../../temporal/runtime-log.js';
import { openEncoding } from '../../worker/index.js';
import { type RefusedWorkflow, replayOpenWorkflows } from '../../worker/replay-open.js';
import type { CommandContext, JsonOption } from '../command.js';
import { withPlatform } from '../connect/with-platform.js';
import { exitCodes } from '../exit-codes.js';
import { printJson } from '../output/json.js';
import { oneLine } from '../output/terminal-safe.js';
import { plural } from '../units.js';

/** Most workflows that are named for a person. */
const mostNamed = 20;

/** @returns 1 if this build cannot continue something that its workers would get */
export async function checkUpgrade({ json }: JsonOption, context: CommandContext): Promise<number> {
  const { io } = context;
  // What its native part says of each failure is in the report.
  installErrorLogger();
  const { replayed, refused } = await withPlatform(context, {}, async ({ temporal, config }) => {
    const { dataConverter } = await openEncoding(config);
    const { taskQueue, buildId } = config;
    return replayOpenWorkflows(temporal, { taskQueue, buildId, dataConverter, signal: io.interrupted });
  });
  const moving = refused.filter(({ isPinned }) => !isPinned);
  const exitCode = moving.length === 0 ? exitCodes.done : exitCodes.otherOutcome;
  if (json) {
    printJson(io.stdout, { replayed, refused, error: null });
    return exitCode;
  }
  const name = (workflows: readonly RefusedWorkflow[]) => {
    for (const { type, workflowId, reason } of workflows.slice(0, mostNamed)) {
      io.stdout.write(`  ${oneLine(`${type} ${workflowId}: ${reason}`)}\n`);
    }
    if (workflows.length > mostNamed) io.stdout.write(`  and ${workflows.length - mostNamed} more; see --json\n`);
  };
  io.stdout.write(
    moving.length === 0
      ? `${plural(replayed, 'running workflow')} replayed: this build can continue what it would get.\n`
      : `This build cannot continue ${moving.length} of ${plural(replayed, 'running workflow')}. Do not start its workers:\n`,
  );
  name(moving);
  const staying = refused.filter(({ isPinned }) => isPinned);
  if (staying.length > 0) {
    io.stdout.write(`${staying.length} more it cannot continue, but they stay with the version of their workers:\n`);
    name(staying);
  }
  return exitCode;
}

/** `sandflow sandboxes`. */
import type { Sandbox } from '../../contract/records.js';
import { sandboxStates } from '../../contract/states.js';
import type { CommandContext } from '../command.js';
import { withService } from '../connect/with-service.js';
import { printJson } from '../output/json.js';
import { formatTable } from '../output/table.js';
import { oneLine } from '../output/terminal-safe.js';
import { UsageError } from '../usage-error.js';
import { nameMatches } from './name-pattern.js';
import { sandboxReport } from './sandbox-report.js';
import { ageText, ttlLeftText } from './times.js';

export interface ListOptions {
  readonly state: readonly string[];
  readonly name?: string;
  readonly cost?: boolean;
  readonly json?: boolean;
}

export async function listSandboxes(options: ListOptions, context: CommandContext): Promise<void> {
  const { io } = context;
  const unknown = options.state.find((state) => !sandboxStates.some((known) => known === state));
  if (unknown !== undefined) {
    throw new UsageError(`--state must be one of ${sandboxStates.join(', ')}, not "${unknown}".`);
  }
  const fits = nameMatches(options.name ?? '*');
  const query = options.cost ? ({ include: 'cost' } as const) : {};
  const signal = io.interrupted;
  const all = await withService(context, ({ reads }) => reads.listAllSandboxes(query, { signal }));
  const found = all
    .filter(({ state, name }) => (options.state.length === 0 || options.state.includes(state)) && fits(name))
    .sort((a, b) => timeOf(b) - timeOf(a));
  if (options.json) return printJson(io.stdout, { sandboxes: found.map(sandboxReport), error: null });
  if (found.length === 0)
    return void io.stderr.write(`${all.length === 0 ? 'No sandboxes found' : 'No sandbox matches'}.\n`);
  io.stdout.write(tableOf(found, options.cost === true));
}

/** Newest first; those of unknown age last. */
function timeOf({ createdAt }: Sandbox): number {
  return createdAt == null ? 0 : Date.parse(createdAt) || 0;
}

function tableOf(sandboxes: readonly Sandbox[], withCost: boolean): string {
  const nowMs = Date.now();
  const rows = sandboxes.map((sandbox) => [
    sandbox.id,
    oneLine(sandbox.name ?? ''),
    oneLine(sandbox.state),
    ageText(sandbox.createdAt, nowMs),
    ttlLeftText(sandbox, nowMs),
    oneLine(sandbox.environment ?? ''),
    ...(withCost ? [sandbox.cost ? `$${sandbox.cost.dollars.toFixed(2)}` : ''] : []),
  ]);
  return formatTable(['ID', 'NAME', 'STATE', 'AGE', 'TTL LEFT', 'ENVIRONMENT', ...(withCost ? ['COST'] : [])], rows);
}

import type { Sandbox } from '../../contract/records/sandbox-records.js';
import { sandboxStates } from '../../contract/workflow-safe/states.js';
import { fitsAny, patternProblem } from '../../retention/index.js';
import type { CommandContext } from '../command.js';
import { withService } from '../connect/with-service.js';
import { printList } from '../output/table.js';
import { ageText } from '../units.js';
import { UsageError } from '../usage-error.js';
import type { ListSandboxesOptions } from './options.js';
import { sandboxReport, ttlLeftText } from './show-sandbox.js';

/**
 * Reads the pattern of `--name`. Without it, every sandbox matches.
 * @throws UsageError if it is empty or has signs of another language
 */
export function nameMatches(pattern: string | undefined): (name: string | undefined) => boolean {
  if (pattern === undefined) return () => true;
  const problem = patternProblem(pattern);
  if (problem !== null) throw new UsageError(`--name: ${pattern === '' ? 'the pattern' : `"${pattern}"`} ${problem}.`);
  return (name) => fitsAny([pattern], name ?? '');
}

export async function listSandboxes(options: ListSandboxesOptions, context: CommandContext): Promise<void> {
  const { io } = context;
  const { state: states, name: pattern, cost, json } = options;
  const unknown = states.find((state) => !sandboxStates.some((known) => known === state));
  if (unknown !== undefined) {
    throw new UsageError(`--state must be one of ${sandboxStates.join(', ')}, not "${unknown}".`);
  }
  const fits = nameMatches(pattern);
  const query = cost ? ({ include: 'cost' } as const) : {};
  const signal = io.interrupted;
  const all = await withService(context, ({ reads }) => reads.listAllSandboxes(query, { signal }));
  const found = all
    .filter(({ state, name }) => (states.length === 0 || states.includes(state)) && fits(name))
    .sort((a, b) => timeOf(b) - timeOf(a));
  const nowMs = Date.now();
  printList(io, json, {
    list: { sandboxes: found.map(sandboxReport) },
    none: all.length === 0 ? 'No sandboxes found.' : 'No matching sandboxes found.',
    header: ['ID', 'NAME', 'STATE', 'AGE', 'TTL LEFT', 'ENVIRONMENT', ...(cost ? ['COST'] : [])],
    cells: (sandbox) => [
      sandbox.id,
      sandbox.name ?? '',
      sandbox.state,
      ageText(sandbox.createdAt, nowMs),
      ttlLeftText(sandbox, nowMs),
      sandbox.environment ?? '',
      ...(cost ? [sandbox.cost ? `$${sandbox.cost.dollars.toFixed(2)}` : ''] : []),
    ],
    colours: ({ state }) => [null, null, state === 'error' ? 'red' : null],
  });
}

/** When the sandbox was created, in ms. 0 if unknown, so that the list ends with such sandboxes. */
function timeOf({ createdAt }: Sandbox): number {
  return createdAt == null ? 0 : Date.parse(createdAt) || 0;
}

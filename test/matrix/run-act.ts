/** Runs a scenario in which somebody else acts once, and says what is broken. */
import { type Act, around, othersName, othersTtlSeconds, play, type Traces } from './acts.js';
import type { ProxiedCall, Striker } from './fault-proxy.js';
import { alwaysOf, clear, nextId, settled, within } from './row.js';
import type { Prepared, Scenario } from './scenario.js';
import type { World } from './world.js';

export interface ActRow {
  readonly scenario: Scenario;
  readonly site: string;
  readonly act: Act;
}

export const actRowName = ({ scenario, site, act }: ActRow): string => `${scenario.name}:${site}:${act.name}`;

const deadlineMs = 20_000;

/** What ends a job when its machine is taken away. */
const lost = [
  'sandbox_failed',
  'prompt_failed',
  'rejected',
  'partly_failed',
  'source_failed',
  'superseded',
  'gone',
  'applied',
];
const taking: readonly Act['act'][] = ['stop', 'delete', 'resume'];

export async function runAct(
  world: World,
  row: ActRow,
  strikerOf: (name: string) => Striker,
): Promise<readonly string[]> {
  const { scenario, site, act } = row;
  const { taskQueue } = world.stand;
  const prepared = await scenario.prepare(world, { id: nextId(), deadlineMs, taskQueue });
  const { books } = world.stand.service;
  const traces: Traces = { sandboxId: null, promptId: null };
  // A sandbox that is renamed stays the job's own.
  const known = new Set<string>();
  const own: Prepared = { ...prepared, owns: (sandbox) => prepared.owns(sandbox) || known.has(sandbox.id) };
  const playOnce = async (call: ProxiedCall) => {
    const sandbox = books
      .sandboxes()
      .filter((one) => own.owns(one) && one.gone === null)
      .at(-1);
    const sandboxId = call.sandboxId ?? sandbox?.id;
    if (sandboxId === undefined || sandboxId === world.sourceId) return;
    known.add(sandboxId);
    await play(world, act, sandboxId, textOf(call), traces);
  };
  const striker: Striker = {
    name: act.name,
    strike: (exchange) => around(act, exchange, () => playOnce(exchange.call)),
  };
  const tapped = world.proxy.tap({
    isOf: prepared.isOf,
    strikerOf: (call) => (call.site === site ? striker : alwaysOf(scenario, call.site, strikerOf)),
  });
  const textOf = (call: ProxiedCall) =>
    call.promptText ?? tapped.calls.findLast(({ promptText }) => promptText)?.promptText ?? 'hello';
  try {
    const ended = await within(deadlineMs + 35_000, prepared.run());
    const allowed = [scenario.expected, ...(taking.includes(act.act) ? lost : [])];
    const named = allowed.includes(ended.outcome) ? [] : [`ended ${ended.outcome}, may end ${allowed.join(' or ')}`];
    const run = {
      scenario,
      prepared: own,
      ended,
      calls: tapped.calls,
      lostByOthers: act.act === 'delete' ? 1 : 0,
      othersPromptIds: traces.promptId === null ? [] : [traces.promptId],
      resumed: act.act === 'resume' ? traces.sandboxId : null,
    };
    return [...named, ...(await settled(world, run)), ...undone(world, act, traces)];
  } catch (error) {
    return [`did not end: ${error instanceof Error ? error.message : String(error)}`];
  } finally {
    tapped.remove();
    await clear(world, own);
  }
}

/** What the other did and is not there any more. */
function undone({ stand }: World, { act }: Act, { sandboxId }: Traces): string[] {
  const sandbox = stand.service.books.sandboxes().find(({ id }) => id === sandboxId);
  if (!sandbox || sandbox.gone !== null) return [];
  if (act === 'rename' && sandbox.name !== othersName) return [`the other's name was undone: ${sandbox.name}`];
  if (act === 'auto-stop' && sandbox.ttlSeconds !== othersTtlSeconds)
    return [`the other's auto-stop was undone: ${sandbox.ttlSeconds}`];
  return [];
}

/** Runs a scenario in which somebody else acts once, and returns broken promises. */

import { brokenWorkflows } from '../ended-workflows.js';
import type { ProxiedCall, Striker } from '../faults/fault-proxy.js';
import { noPromptIds } from '../faults/lens.js';
import { alwaysOf, clear, nextId, settled, type Verdict, within } from '../row.js';
import type { Prepared, Scenario } from '../scenarios/scenario.js';
import { createSource, type World } from '../world.js';
import { type Act, around, othersName, othersTtlSeconds, play, type Traces } from './acts.js';

export interface ActRow {
  readonly scenario: Scenario;
  readonly site: string;
  readonly act: Act;
}

export const actRowName = ({ scenario, site, act }: ActRow): string => `${scenario.name}:${site}:${act.name}`;

/** The site of an act right before the run, on its initial sandbox. */
export const atStart = 'start';

/** On an idle machine. */
const plainDeadlineMs = 30_000;

/** Outcomes of a job without its machine. */
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
/** Outcomes of a batch whose usable source others work in. */
const usedSource = ['source_failed'];

function allowedEnds({ expected, workflow, lens, always = {} }: Scenario, { act }: Act): readonly string[] {
  // Two equal prompts cannot be told apart if the answer to one is lost.
  const isLostPrompt = Object.keys(always).some((site) => site.endsWith('/sendPrompt#1'));
  if (act === 'prompt' && isLostPrompt) return [expected, 'outcome_unknown'];
  // With the sandbox, the marker that shows whether a command ran is gone.
  const isLostCommand = Object.hasOwn(always, 'runMarkedCommand/runCommand#1');
  // A machine that is gone records no more prompts. Without ids, its record does not show that one was refused.
  const isLost = isLostCommand || (isLostPrompt && lens === noPromptIds);
  // A stop of somebody else's may have ended before the job looks.
  const stopped = act === 'stop' && workflow === 'stopAndAwaitArchive' ? ['already_archived'] : [];
  if (taking.includes(act)) return [expected, ...lost, ...stopped, ...(isLost ? ['outcome_unknown'] : [])];
  return act === 'lease' && workflow === 'forkFanout' ? [expected, ...usedSource] : [expected];
}

export async function runAct(
  world: World,
  row: ActRow,
  { strikerOf, patience }: { readonly strikerOf: (name: string) => Striker; readonly patience: number },
): Promise<Pick<Verdict, 'broken' | 'isUntimely'>> {
  const { scenario, site, act } = row;
  const deadlineMs = patience * plainDeadlineMs;
  const { taskQueue } = world.stand;
  const sourceId = scenario.forks ? await createSource(world.stand) : undefined;
  const prepared = await scenario.prepare(world, { id: nextId(), deadlineMs, taskQueue, sourceId });
  const { books } = world.stand.service;
  const traces: Traces = { sandboxId: null, promptId: null, hold: null };
  /** The number of calls before the act, without the one that was held for it. */
  let callsBefore = 0;
  // A renamed sandbox still belongs to the job.
  const known = new Set<string>();
  const own: Prepared = { ...prepared, owns: (sandbox) => prepared.owns(sandbox) || known.has(sandbox.id) };
  const playOn = async (sandboxId: string | undefined, text: string) => {
    if (sandboxId === undefined) return;
    const isSource = sandboxId === prepared.sourceId;
    if (!isSource) known.add(sandboxId);
    await play(world, act, { sandboxId, isSource, text }, traces);
  };
  const playOnce = (call: ProxiedCall) => {
    callsBefore = tapped.calls.length - (act.when === 'before' ? 1 : 0);
    const concerned = books.sandboxes().filter((one) => own.owns(one) || one.id === prepared.sourceId);
    const isConcerned = concerned.some(({ id }) => id === call.sandboxId);
    const latest = concerned.filter((one) => one.gone === null && one.id !== prepared.sourceId).at(-1);
    return playOn(isConcerned ? (call.sandboxId ?? undefined) : latest?.id, textOf(call));
  };
  // A call that a cancel interrupts ends before the act.
  let acting = Promise.resolve();
  const striker: Striker = {
    name: act.name,
    strike: (exchange) => {
      acting = around(act, exchange, () => playOnce(exchange.call));
      return acting;
    },
  };
  const tapped = world.proxy.tap({
    lens: scenario.lens,
    isOf: prepared.isOf,
    strikerOf: (call) => (call.site === site ? striker : alwaysOf(scenario, call.site, strikerOf)),
  });
  const textOf = (call: ProxiedCall) =>
    call.promptText ?? tapped.calls.findLast(({ promptText }) => promptText)?.promptText ?? 'hello';
  try {
    if (site === atStart) await playOn(prepared.given[0] ?? prepared.sourceId, 'hello');
    const ended = await within(deadlineMs + 35_000, prepared.run());
    await acting.catch(() => undefined);
    const allowed = allowedEnds(scenario, act);
    const named = allowed.includes(ended.outcome) ? [] : [`ended ${ended.outcome}, may end ${allowed.join(' or ')}`];
    const run = {
      scenario,
      isTaken: act.act === 'stop' || act.act === 'delete',
      prepared: own,
      ended,
      calls: tapped.calls,
      lostByOthers: act.act === 'delete' ? 1 : 0,
      othersPromptIds: traces.promptId === null ? [] : [traces.promptId],
      resumed: act.act === 'resume' ? traces.sandboxId : null,
    };
    const held = (await traces.hold?.back) ?? [];
    const ofWorkflows = await brokenWorkflows(world, prepared);
    // A job that resumes a sandbox sets its auto-stop, and renews that of its own.
    const saysSo = prepared.given.length === 0 ? ['resumeSandbox', 'updateSandbox'] : ['resumeSandbox'];
    const isReset = tapped.calls.slice(callsBefore).some(({ endpoint }) => saysSo.includes(endpoint));
    const ofOther = act.act === 'auto-stop' && isReset ? [] : undone(world, act, traces);
    const promises = [...held, ...(await settled(world, run)), ...ofOther, ...ofWorkflows];
    return { broken: [...promises, ...named], isUntimely: named.length > 0 && promises.length === 0 };
  } catch (error) {
    const broken = [`did not end: ${error instanceof Error ? error.message : String(error)}`];
    return { broken, isUntimely: true };
  } finally {
    tapped.remove();
    await clear(world, own);
  }
}

/** Effects of the act that no longer exist. */
function undone({ stand }: World, { act }: Act, { sandboxId }: Traces): string[] {
  const sandbox = stand.service.books.sandboxes().find(({ id }) => id === sandboxId);
  if (!sandbox || sandbox.gone !== null) return [];
  if (act === 'rename' && sandbox.name !== othersName) return [`the other's name was undone: ${sandbox.name}`];
  if (act === 'auto-stop' && sandbox.ttlSeconds !== othersTtlSeconds)
    return [`the other's auto-stop was undone: ${sandbox.ttlSeconds}`];
  return [];
}

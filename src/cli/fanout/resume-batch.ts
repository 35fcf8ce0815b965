/** `sandflow fanout resume`, after its command line was checked. */

import { SandflowError } from '../../errors/sandflow-error.js';
import { createTemplate } from '../../fanout/template.js';
import type { FanoutPolicy, FanoutSource } from '../../protocol/fanout/fanout-input.js';
import { headOf } from '../../protocol/stored-text.js';
import { earlierExecution } from '../../workflow-client/fanouts/earlier-execution.js';
import { type FanoutAddress, fanoutProgress, type StartedFanout } from '../../workflow-client/fanouts/fanout-client.js';
import { planResume, type ResumePlan } from '../../workflow-client/fanouts/plan-resume.js';
import { resumeFanout } from '../../workflow-client/fanouts/resume-fanout.js';
import { contentDigest } from '../../workflow-client/input-digest.js';
import type { CommandContext } from '../command.js';
import { checkWanted, PromptChoices, type Wanted } from '../connect/check-wanted.js';
import { sayLocalFacts } from '../connect/local-facts.js';
import type { Platform } from '../connect/platform.js';
import { exitCodes } from '../exit-codes.js';
import { cutToWidth } from '../output/display-width.js';
import { printJson } from '../output/json.js';
import { oneLine } from '../output/terminal-safe.js';
import { formatDuration, plural } from '../units.js';
import { UsageError } from '../usage-error.js';
import { changeOf } from './changed-items.js';
import { nextWhileBatchRuns } from './next-commands.js';
import type { ResumeFanoutOptions } from './options.js';
import type { BatchView } from './progress/batch-view.js';
import type { ResumeCommand } from './read-resume.js';
import { claimResultFolder } from './result-places.js';
import { printStarted } from './results/finish-fanout.js';
import { reservedSeconds } from './survey.js';
import { watchFanoutToEnd } from './watch-to-end.js';
import { withBatch } from './with-batch.js';

/** @returns the exit code */
export async function resumeBatch(
  batchId: string,
  command: ResumeCommand,
  options: ResumeFanoutOptions,
  context: CommandContext,
): Promise<number> {
  const { io } = context;
  return withBatch(context, { quiet: options.quiet }, async (platform, view) => {
    const batch = { deployment: platform.config.deployment, batchId };
    const plan = await planOf(platform, batch, command, options);
    const { counts, sealed, budget } = await fanoutProgress(platform.temporal, batch);
    const kept = plan ?? (await platform.patiently(() => earlierExecution(platform.temporal, batch))).input;
    const left = counts.items - counts.completed - (options.retryFailed ? 0 : counts.failed);
    if ((left > 0 || plan?.changes) && !plan?.only)
      requireUnreached(command.policy.stopAt ?? kept.policy.stopAt, counts.completed);
    if (plan) requireRoom(plan, { ...plan.policy, ...command.policy }, budget.spentSeconds, command.policy);
    const wanted = wantedOf(kept.source, plan);
    const checked = { service: platform.service, signal: io.interrupted, notices: view };
    if (plan && options.dryRun) {
      if (options.check) await checkWanted(wanted, checked);
      view.close();
      return printPlan(batchId, plan, { ...plan.policy, ...command.policy }, options, context);
    }
    const runs = plan?.changes ? plan.items.length > 0 : !sealed || left > 0;
    if (!runs) {
      view.notice(nothingLeft(batchId, plan, counts.completed === counts.items), 'detail');
    } else {
      if (options.check) await checkWanted(wanted, checked);
      sayLocalFacts(await platform.readFacts(), view);
      io.interrupted.throwIfAborted();
      const { started } = await resume(platform, batch, { command, plan, options, context });
      const what = started ? `resumed: running ${whatRuns(plan)}` : 'goes on';
      view.notice(`Batch ${batchId} ${what}.`, 'detail');
    }
    return finish(platform, batchId, { ...options, detach: options.detach && runs }, { context, view });
  });
}

/** A plan reads every item of the batch, so a plain resume makes none. @returns undefined for a plain resume */
async function planOf(
  { temporal, sharedResults, results, patiently }: Platform,
  batch: FanoutAddress,
  { policy, only, change }: ResumeCommand,
  { retryFailed, dryRun }: ResumeFanoutOptions,
): Promise<ResumePlan | undefined> {
  const changes = only !== undefined || change !== undefined;
  if (!changes && !dryRun && policy.budgetSeconds == null) return undefined;
  if (changes && !sharedResults) throw new UsageError(notShared);
  const readText = async (ref: string) => (await results.get(ref)).toString('utf8');
  const plan = await patiently(() =>
    planResume(temporal, batch, {
      ...{ results, retryFailed },
      ...(only && { only }),
      ...(change && { change: changeOf(change, readText) }),
    }),
  );
  const isFixed = (text: string) => createTemplate(text).columns.length === 0;
  if (change?.templates.length && change.templates.every(isFixed)) requireDifferent(plan.items);
  return plan;
}

const notShared =
  'Changed items go through the result store. Set SANDFLOW_RESULTS to a directory that this command shares with the workers.';

/** As for a new batch: a template that was meant to name a column would cost as much as the whole batch. */
export function requireDifferent(items: ResumePlan['items']): void {
  const works = items.map(({ item: { id: _, labels: __, columns: ___, ...work }, source }) =>
    contentDigest({ work, source }),
  );
  if (works.length < 2 || new Set(works).size > 1) return;
  const why =
    '--prompt: the template gives every item the same prompt. Name a column: {{prompt}} is the prompt with which the item was submitted.';
  throw new UsageError(why);
}

/** @throws UsageError if the batch ends before any item runs, because enough items have completed */
function requireUnreached(stopAt: FanoutPolicy['stopAt'], completed: number): void {
  if (stopAt.kind !== 'successes' || completed < stopAt.count) return;
  const why = `The batch ends at the first ${stopAt.count} completed items (--first), and ${completed} have completed, so no item would run. Set a larger --first, or name the items with --only.`;
  throw new UsageError(why);
}

/** @throws UsageError if what is left of the budget covers no item */
function requireRoom(
  { items, source }: ResumePlan,
  policy: FanoutPolicy,
  spentSeconds: number,
  { budgetSeconds: given }: Partial<FanoutPolicy>,
): void {
  const { budgetSeconds } = policy;
  if (budgetSeconds === null || items.length === 0) return;
  const least = Math.min(
    ...items.flatMap(({ item, source: own = source }) => (own ? [reservedSeconds(item, policy, own)] : [])),
  );
  if (budgetSeconds - spentSeconds >= least) return;
  const [all, spent, needs] = [budgetSeconds, spentSeconds, least].map((seconds) => formatDuration(seconds * 1_000));
  const what = given === undefined ? `The budget of the batch, ${all},` : `--budget ${all}`;
  const why = `${what} covers no item: earlier attempts have spent ${spent} of it, and each item reserves at least ${needs}, its deadline and its clean-up. Set a larger --budget, or a shorter --item-deadline.`;
  throw new UsageError(why);
}

/** A plain resume asks only for the source of the batch: its items were checked when they were submitted. */
function wantedOf(source: FanoutSource | undefined, plan: ResumePlan | undefined): Wanted {
  const choices = new PromptChoices();
  for (const { item } of plan?.items ?? []) choices.add(item.prompts, item.id);
  const all = plan ? plan.items.map(({ item, source: own }) => (own ? { ...own, item: item.id } : source)) : [source];
  return { sources: all.flatMap((one) => one ?? []), choices: choices.all };
}

interface Resuming {
  readonly command: ResumeCommand;
  readonly plan: ResumePlan | undefined;
  readonly options: ResumeFanoutOptions;
  readonly context: CommandContext;
}

async function resume(
  platform: Platform,
  batch: FanoutAddress,
  { command: { policy }, plan, options, context }: Resuming,
): Promise<StartedFanout> {
  const { retryFailed } = options;
  const release = options.detach ? undefined : await claimResultFolder(batch, options, context.io);
  context.undone = undefined;
  try {
    const given = { ...platform.starting, retryFailed, policy, ...(plan && { plan }) };
    return await resumeFanout(platform.temporal, batch, given);
  } catch (error) {
    // Only a refusal proves that the batch was not resumed.
    if (error instanceof SandflowError) await release?.();
    throw error;
  }
}

async function finish(
  platform: Platform,
  batchId: string,
  options: ResumeFanoutOptions,
  { context, view }: { readonly context: CommandContext; readonly view: BatchView },
): Promise<number> {
  if (!options.detach) return watchFanoutToEnd(platform, batchId, options, { context, view });
  for (const line of nextWhileBatchRuns(batchId, options.get)) view.notice(line, 'detail');
  view.close();
  return printStarted(batchId, platform, context.io, options);
}

function nothingLeft(batchId: string, plan: ResumePlan | undefined, isComplete: boolean): string {
  if (plan && plan.done.length > 0) {
    const names = plan.done.slice(0, 3).map(oneLine).join(', ');
    const more = plan.done.length > 3 ? ` and ${plan.done.length - 3} more` : '';
    return `Nothing to run in ${batchId}: ${names}${more} ran again by the same command, and completed.`;
  }
  return `Nothing left to run in ${batchId}: every item has ${isComplete || plan?.changes ? 'completed' : 'completed or failed'}.`;
}

function whatRuns(plan: ResumePlan | undefined): string {
  return plan?.changes ? plural(plan.items.length, 'item') : 'the items that are missing or failed';
}

const shown = 20;

function printPlan(
  batchId: string,
  { items, done }: ResumePlan,
  policy: FanoutPolicy,
  { json }: ResumeFanoutOptions,
  { io }: CommandContext,
): number {
  if (json) {
    const rows = items.map(({ item: { id, prompts }, before }) => ({ id, before, prompts }));
    printJson(io.stdout, { batchId, items: rows, done, policy, error: null });
    return exitCodes.done;
  }
  const columns = (io.stdout.columns || 80) - 1;
  const lines = [
    `${plural(items.length, 'item')} of ${batchId} would run:`,
    ...items.slice(0, shown).map((planned) => cutToWidth(`  ${planLine(planned)}`, columns)),
    ...(items.length > shown ? [`  … and ${items.length - shown} more`] : []),
    ...(done.length > 0 ? [`${plural(done.length, 'item')} ran again by the same command, and completed.`] : []),
    'Nothing was started.',
  ];
  for (const line of lines) io.stdout.write(`${line}\n`);
  return exitCodes.done;
}

function planLine({ item: { id, prompts }, before }: ResumePlan['items'][number]): string {
  const [first] = prompts;
  const choice = [first?.provider, first?.model, first?.reasoningEffort].filter((one) => one !== undefined);
  const prompt = headOf(first?.prompt ?? '', 500).trim();
  return [id, before, ...(choice.length > 0 ? [choice.join(' ')] : []), prompt].map(oneLine).join('  ');
}

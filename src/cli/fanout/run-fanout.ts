/** `sandflow fanout`: checks everything, sends the items, watches the batch and downloads its results. */
import type { FanoutInput, FanoutItem, FanoutPolicy } from '../../../workflows/fanout/types.js';
import type { FilePut } from '../../../workflows/job/types.js';
import { jobIdProblem } from '../../contract/addresses.js';
import { SandflowError } from '../../contract/errors/sandflow-error.js';
import { type ItemWish, readItems } from '../../fanout/index.js';
import { defaultPolicy } from '../../temporal/fanouts/input.js';
import { submitFanout } from '../../temporal/fanouts/submit.js';
import type { Labels } from '../../temporal/labels.js';
import type { CommandContext } from '../command.js';
import { checkService } from '../connect/check-service.js';
import { checkSource, namedSourceOf } from '../connect/check-source.js';
import { sayIsolation } from '../connect/isolation.js';
import { openPlatform, type Platform } from '../connect/platform.js';
import { withService } from '../connect/with-service.js';
import { exitCodes } from '../exit-codes.js';
import { parseLabelPairs } from '../labels.js';
import { keepNotifyCommand, notifyTargetOf } from '../notify/notify-target.js';
import { printJson } from '../output/json.js';
import { createReporter } from '../output/reporter.js';
import { diffFolderOf, parsePutPair, requireInside } from '../run/file-pairs.js';
import { generateJobId } from '../run/job-input.js';
import { findPutFiles, readPutFiles } from '../run/put-files.js';
import { readTextOrFile } from '../run/read-prompts.js';
import { ofThisProcess, parseDurationMs, plural } from '../units.js';
import { requireWatch, UsageError } from '../usage-error.js';
import { forkSettingsOf, matrixOf, policyOf } from './batch-input.js';
import { checkedFanoutInput } from './checked-input.js';
import { freshSourceText, sourceOf } from './fanout-source.js';
import { openItemSources } from './item-sources.js';
import type { FanoutOptions } from './options.js';
import { type BatchView, createBatchView } from './progress/batch-view.js';
import { printStarted } from './results/finish-fanout.js';
import { createItemFiles, type ItemFiles } from './results/item-files.js';
import { type Survey, surveyItems, surveyLines } from './survey.js';
import { requireResultPlaces, watchFanoutToEnd } from './watch-to-end.js';
import { batchExists } from './with-batch.js';

/** @returns the exit code */
export async function runFanout(
  given: readonly string[],
  options: FanoutOptions,
  context: CommandContext,
): Promise<number> {
  const { io } = context;
  const plan = await planOf(options, io.cwd);
  const config = await io.readConfig();
  const batchId = options.id ?? generateJobId();
  const problem = jobIdProblem(config.deployment, batchId);
  if (problem) throw new UsageError(`--id: ${problem.replace('job id', 'batch id')}.`);
  checkedFanoutInput(inputOf(plan, options, { deployment: config.deployment, batchId, put: [] }));
  await requireResultPlaces(batchId, options, io);
  const opened = await openItemSources(given, options.format, io);
  try {
    const items = () => readItems(opened.sources, plan.reading);
    const collectDiff = diffFolderOf(options.getDiff);
    const files = createItemFiles({
      cwd: io.cwd,
      put: options.put.map(parsePutPair),
      collect: options.get,
      collectDiff,
    });
    const { policy } = plan;
    const canKeep = config.resultsShared;
    const survey = await surveyItems(items(), files, { policy, canKeep, sourceType: options.prepareType ?? 'default' });
    requireEnoughItems(policy, survey.items);
    const quiet = options.quiet === true;
    const starting = createReporter({ stream: io.stderr, quiet });
    if (options.dryRun) {
      const asking = { signal: io.interrupted, notices: starting };
      const { named } = plan;
      if (named) await withService(context, ({ service }) => checkSource(named, { service, ...asking }));
      return printSurvey(survey, plan, options, context);
    }
    if (config.sandboxService) {
      await checkService(config, { signal: io.interrupted, notice: (text) => starting.notice(text) });
    }
    const platform = await openPlatform(config, { io, reporter: starting, needsWorker: true });
    sayIsolation(platform.isolation, starting);
    if (plan.freshSource) starting.notice(plan.freshSource, 'detail');
    starting.close();
    const view = createBatchView({ stream: io.stderr, quiet });
    try {
      const { deployment } = platform.config;
      // A repeated id attaches to its batch, even if the source no longer exists.
      if (plan.named && !(options.id !== undefined && (await batchExists(platform, { deployment, batchId })))) {
        await checkSource(plan.named, { service: platform.service, signal: io.interrupted, notices: view });
      }
      await keepNotifyCommand(options.notify, config);
      const put = await readPutFiles(plan.prepareFiles, platform.keepInput);
      const input = checkedFanoutInput(inputOf(plan, options, { deployment, batchId, put }));
      await send(platform, input, filled(items(), files, platform, io.interrupted), {
        view,
        total: survey.items,
        labels: plan.labels,
      });
      if (options.detach) {
        view.close();
        return printStarted(batchId, platform, io, options);
      }
      return await watchFanoutToEnd(platform, batchId, options, { context, view });
    } finally {
      view.close();
      await platform.close();
    }
  } finally {
    await opened.close();
  }
}

/**
 * @throws UsageError if `--first` requires more successes than there are items, because the batch could not reach them
 */
function requireEnoughItems({ stopAt }: FanoutPolicy, items: number): void {
  if (stopAt?.kind !== 'successes' || stopAt.count <= items) return;
  throw new UsageError(
    `--first ${stopAt.count}: there are only ${plural(items, 'item')}. Use at most --first ${items}.`,
  );
}

type Plan = Awaited<ReturnType<typeof planOf>>;

/** Parses and checks the options before the settings are read. */
async function planOf(options: FanoutOptions, cwd: string) {
  const texts = (given: readonly string[], option: string) =>
    Promise.all(given.map((text) => readTextOrFile(text, option, cwd)));
  const preparing = {
    setupScript: await readTextOrFile(options.setup, '--setup', cwd),
    prompts: await texts(options.preparePrompt, '--prepare-prompt'),
  };
  const source = sourceOf(options, { ...preparing, put: [] });
  requireWatch(options);
  parseDurationMs(options.watchDeadline, '--watch-deadline', ofThisProcess);
  for (const path of options.get) requireInside(path, '--get');
  return {
    policy: { ...defaultPolicy, ...policyOf(options), ...forkSettingsOf(options) },
    reading: {
      templates: await texts(options.prompt, '--prompt'),
      matrix: matrixOf(options),
      parseDurationMs: (text: string) => parseDurationMs(text, 'deadline'),
    },
    preparing,
    /** The sandbox or snapshot that must exist before the batch starts, or null. */
    named: options.check ? namedSourceOf(source) : null,
    prepareFiles: await findPutFiles(options.preparePut.map(parsePutPair), cwd),
    notify: notifyTargetOf(options.notify),
    labels: parseLabelPairs(options.label),
    freshSource: freshSourceText(options),
  };
}

function inputOf(
  { policy, preparing, notify }: Plan,
  options: FanoutOptions,
  { deployment, batchId, put }: { deployment: string; batchId: string; put: readonly FilePut[] },
): FanoutInput {
  const source = sourceOf(options, { ...preparing, put });
  const { title } = options;
  return { deployment, batchId, source, policy, ...(title !== undefined && { title }), ...(notify && { notify }) };
}

async function* filled(
  items: AsyncIterable<ItemWish>,
  files: ItemFiles,
  { keepInput }: Pick<Platform, 'keepInput'>,
  interrupted: AbortSignal,
): AsyncGenerator<FanoutItem> {
  for await (const item of items) {
    interrupted.throwIfAborted();
    yield await files.read(item, keepInput);
  }
}

/** After these errors, the id belongs to another batch or workflow, and no item was sent to it. */
const othersIdCodes: ReadonlySet<string> = new Set(['fanout_differs', 'not_a_fanout']);

async function send(
  platform: Platform,
  input: FanoutInput,
  items: AsyncIterable<FanoutItem>,
  { view, total, labels }: { readonly view: BatchView; readonly total: number; readonly labels: Labels },
): Promise<void> {
  const { batchId } = input;
  try {
    const { started } = await platform.patiently(() =>
      submitFanout(platform.temporal, input, items, {
        taskQueue: platform.config.taskQueue,
        results: platform.sharedResults,
        promptInSummary: platform.config.promptSummaries,
        labels,
        onProgress: ({ items: sent }) => view.step(`sending items: ${sent} of ${total}`),
      }),
    );
    if (started) view.notice(`Batch ${batchId} started with ${total} items.`, 'detail');
    else view.notice(`Batch ${batchId} already exists; watching it. Use another --id for a new one.`, 'detail');
  } catch (error) {
    if (error instanceof SandflowError && othersIdCodes.has(error.code)) throw error;
    view.notice(
      `Not every item was sent; batch ${batchId} may be waiting for the rest. Send them with the same command and --id ${batchId}, or cancel it: sandflow fanout cancel ${batchId}`,
    );
    throw error;
  }
}

function printSurvey(survey: Survey, plan: Plan, { json }: FanoutOptions, { io }: CommandContext): number {
  const { policy, freshSource = null } = plan;
  const { items, prompts, promptBytes, mostSeconds } = survey;
  const most = { mostMachineSeconds: mostSeconds * (policy.retries + 1), budgetSeconds: policy.budgetSeconds };
  if (json) printJson(io.stdout, { items, prompts, promptBytes, ...most, policy, error: null });
  else
    for (const line of surveyLines(survey, { policy, freshSource }, io.stdout.columns || 80))
      io.stdout.write(`${line}\n`);
  return exitCodes.done;
}

/** Checks the command line of `fanout` and all items. Loads no heavy module, so that a mistake is answered at once. */

import { jobIdProblem } from '../../addresses/addresses.js';
import type { Config } from '../../config.js';
import { defaultRepositoryUrl } from '../../fanout/file-kinds.js';
import { type ItemWish, readItems } from '../../fanout/index.js';
import { createTemplate } from '../../fanout/template.js';
import type { FanoutInput, FanoutPolicy, FanoutSource } from '../../protocol/fanout/fanout-input.js';
import type { FilePut } from '../../protocol/job/job-input.js';
import { defaultPolicy } from '../../workflow-client/fanouts/fanout-input.js';
import type { Labels } from '../../workflow-client/labels.js';
import type { Wanted } from '../connect/check-wanted.js';
import type { CliIo } from '../io.js';
import { parseLabelPairs } from '../labels.js';
import { notifyTargetOf } from '../notify/notify-target.js';
import { generateJobId } from '../run/job-input.js';
import { findPutFiles } from '../run/put-files.js';
import { readBody } from '../run/read-body.js';
import { readScripts, readTextsOrFiles } from '../run/read-prompts.js';
import { checkedFanoutInput } from '../settings/checked-input.js';
import { diffFolderOf, parsePutPair } from '../settings/file-pairs.js';
import { formatDuration, ofThisProcess, parseDurationMs, plural } from '../units.js';
import { requireWatch, UsageError } from '../usage-error.js';
import { matrixOf, policyOf } from './batch-input.js';
import { checkItems } from './checked-items.js';
import { freshSourceText, sourcesOf } from './fanout-source.js';
import { itemSources } from './item-sources.js';
import type { FanoutOptions } from './options.js';
import { requireResultPlaces } from './result-places.js';
import { createItemFiles, type ItemFiles } from './results/item-files.js';
import { parseItemGets } from './results/item-places.js';
import { createSurvey, type Survey } from './survey.js';

/** What the command line and the items say. */
export interface FanoutCommand {
  readonly config: Config;
  readonly batchId: string;
  readonly policy: FanoutPolicy;
  readonly labels: Labels;
  /** What the service must have. */
  readonly wanted: Wanted;
  /** What a prepared source costs, as text; undefined if the batch forks an existing one. */
  readonly freshSource: string | undefined;
  readonly prepareFiles: Awaited<ReturnType<typeof findPutFiles>>;
  readonly survey: Survey;
  readonly files: ItemFiles;
  /** The items, checked. */
  items(): AsyncIterable<ItemWish>;
  /** @param put the stored content of `prepareFiles` */
  inputOf(put: readonly FilePut[]): FanoutInput;
  /** The source that an item names; undefined without one. @param put as above */
  sourceOf(item: ItemWish, put: readonly FilePut[]): FanoutSource | undefined;
  /** Removes the items from this disk. */
  close(): Promise<void>;
}

/** @throws UsageError; SandflowError `bad_configuration`; ItemsError */
export async function readFanout(given: readonly string[], entered: FanoutOptions, io: CliIo): Promise<FanoutCommand> {
  const options = { ...entered, ...(await readScripts(entered, io.cwd)) };
  const plan = await planOf(options, io.cwd);
  const config = await io.readConfig();
  const batchId = options.id ?? generateJobId();
  const problem = jobIdProblem(config.deployment, batchId);
  if (problem) throw new UsageError(`--id: the batch id ${problem}.`);
  const { policy, notify, labels, freshSource, prepareFiles } = plan;
  const { title, conversation } = options;
  const sourcesWith = (put: readonly FilePut[]) => sourcesOf(options, { ...plan.preparing, put });
  const input = (put: readonly FilePut[], hasSource: boolean) =>
    checkedFanoutInput({
      ...{ deployment: config.deployment, batchId, policy },
      ...(hasSource && { source: sourcesWith(put).batch }),
      ...(title !== undefined && { title }),
      ...(notify && { notify }),
    });
  // Only the items say whether the batch needs a source that has the conversation.
  input([], conversation === undefined);
  await requireResultPlaces(batchId, options, io);
  const sources = await itemSources(given, options, io);
  const files = createItemFiles({
    cwd: io.cwd,
    put: options.put.map(parsePutPair),
    gets: plan.gets,
    collectDiff: diffFolderOf(options.getDiff),
  });
  const surveying = createSurvey(files, {
    policy,
    canKeep: config.resultsShared,
    sources: sourcesWith([]),
  });
  const checked = await checkItems(readItems(sources, plan.reading), {
    check: surveying.add,
    signal: io.interrupted,
  });
  try {
    const survey = surveying.result();
    const inputOf = (put: readonly FilePut[]) => input(put, survey.usesBatchSource);
    inputOf([]);
    requireEnoughItems(policy, survey.items);
    requireEnoughBudget(policy, survey);
    const wanted = { sources: survey.sources, choices: survey.choices, concurrency: policy.concurrency };
    const parts = { config, batchId, policy, labels, wanted, prepareFiles, survey, files };
    return {
      ...parts,
      freshSource: survey.usesBatchSource ? freshSource : undefined,
      items: checked.items,
      inputOf,
      sourceOf: (item, put) => (item.source ? sourcesWith(put).ofItem(item) : undefined),
      close: checked.close,
    };
  } catch (error) {
    await checked.close();
    throw error;
  }
}

/**
 * @throws UsageError if `--first` requires more successes than there are items, because the batch could not reach them
 */
function requireEnoughItems({ stopAt }: FanoutPolicy, items: number): void {
  if (stopAt?.kind !== 'successes' || stopAt.count <= items) return;
  const why = `--first ${stopAt.count}: there are only ${plural(items, 'item')}. Use at most --first ${items}.`;
  throw new UsageError(why);
}

/** @throws UsageError if the budget covers no item: the batch would prepare its source, and start none */
function requireEnoughBudget({ budgetSeconds }: FanoutPolicy, { leastSeconds }: Survey): void {
  if (budgetSeconds === null || budgetSeconds >= leastSeconds) return;
  const [given, least] = [budgetSeconds, leastSeconds].map((seconds) => formatDuration(seconds * 1_000));
  const why = `--budget ${given} covers no item: each reserves at least ${least}, its deadline and its clean-up. Raise the budget, or set a shorter --item-deadline.`;
  throw new UsageError(why);
}

/** Parses and checks the options before the settings are read. */
async function planOf(options: FanoutOptions, cwd: string) {
  const preparing = {
    prompts: await readTextsOrFiles(options.preparePrompt, '--prepare-prompt', cwd),
    createBody: await readBody(options.createBody, '--create-body', cwd),
  };
  const forkBody = await readBody(options.forkBody, '--fork-body', cwd);
  requireWatch(options);
  parseDurationMs(options.watchDeadline, '--watch-deadline', ofThisProcess);
  return {
    gets: parseItemGets(options.get),
    policy: { ...defaultPolicy, ...policyOf('fanout', options, forkBody) },
    reading: {
      templates: await readTextsOrFiles(options.prompt, '--prompt', cwd),
      matrix: { ...matrixOf(options), promptBody: await readBody(options.promptBody, '--prompt-body', cwd) },
      repositoryUrl: repositoryUrlOf(options),
      parseDurationMs: (text: string) => parseDurationMs(text, 'deadline'),
    },
    preparing,
    prepareFiles: await findPutFiles(options.preparePut.map(parsePutPair), cwd),
    notify: notifyTargetOf(options.notify),
    labels: parseLabelPairs(options.label),
    freshSource: freshSourceText(options),
  };
}

/** @throws UsageError also for options that a clone for each row leaves without effect */
function repositoryUrlOf({ format, repositoryUrl = defaultRepositoryUrl, source, command }: FanoutOptions): string {
  if (format === 'swe-bench' && (source !== undefined || command.length > 0)) {
    const other = source === undefined ? '--command' : '--source';
    const way = 'Prepare what the clones need with --snapshot, --environment or --setup.';
    throw new UsageError(`${other} cannot be used with --format swe-bench: each row has a clone of its own. ${way}`);
  }
  if (repositoryUrl === defaultRepositoryUrl) return repositoryUrl;
  if (format !== 'swe-bench') throw new UsageError('--repository-url needs --format swe-bench.');
  if (createTemplate(repositoryUrl).columns.length > 0) return repositoryUrl;
  const why = '--repository-url must name the repository of the row, like https://git.example.com/{{repo}}.git.';
  throw new UsageError(why);
}

/** `sandflow fanout`, after its command line was checked: sends the items, watches the batch and downloads its results. */

import { SandflowError } from '../../errors/sandflow-error.js';
import type { FanoutInput, NewFanoutItem } from '../../protocol/fanout/fanout-input.js';
import type { FilePut } from '../../protocol/job/job-input.js';
import { fanoutProgress } from '../../workflow-client/fanouts/fanout-client.js';
import { submitFanout } from '../../workflow-client/fanouts/submit-fanout.js';
import type { Labels } from '../../workflow-client/labels.js';
import type { CommandContext } from '../command.js';
import { checkService } from '../connect/check-service.js';
import { checkWanted, namesAnything } from '../connect/check-wanted.js';
import { sayLocalFacts } from '../connect/local-facts.js';
import { openPlatform, type Platform } from '../connect/platform.js';
import { withService } from '../connect/with-service.js';
import { exitCodes } from '../exit-codes.js';
import { printJson } from '../output/json.js';
import { createReporter } from '../output/reporter.js';
import { oneLine } from '../output/terminal-safe.js';
import { programName } from '../program-name.js';
import { readPutFiles, scriptNotice } from '../run/put-files.js';
import { plural } from '../units.js';
import { nextWhileBatchRuns } from './next-commands.js';
import type { FanoutOptions } from './options.js';
import { type BatchView, createBatchView } from './progress/batch-view.js';
import type { FanoutCommand } from './read-fanout.js';
import { claimResultFolder } from './result-places.js';
import { printStarted } from './results/finish-fanout.js';
import { mostOfBatch, sayNamedAs, sourcePlan, surveyLines } from './survey.js';
import { watchFanoutToEnd } from './watch-to-end.js';
import { batchExists } from './with-batch.js';

/**
 * @param read what the command line and the items say, checked
 * @returns the exit code
 */
export async function runFanout(read: FanoutCommand, options: FanoutOptions, context: CommandContext): Promise<number> {
  try {
    return await start(read, options, context);
  } finally {
    await read.close();
  }
}

async function start(read: FanoutCommand, options: FanoutOptions, context: CommandContext): Promise<number> {
  const { io } = context;
  const { config, batchId, wanted, survey } = read;
  const quiet = options.quiet === true;
  const starting = createReporter({ stream: io.stderr, quiet });
  sayNamedAs(survey, starting);
  if (options.dryRun) {
    const asking = { signal: io.interrupted, notices: starting };
    if (options.check && namesAnything(wanted)) {
      await withService(context, ({ service }) => checkWanted(wanted, { service, ...asking }));
    }
    return printSurvey(read, options, context);
  }
  if (config.sandboxService) {
    await checkService(config, { signal: io.interrupted, notice: (text) => starting.notice(text) });
  }
  const platform = await openPlatform(config, { io, reporter: starting, needsWorker: true });
  sayLocalFacts(await platform.readFacts(), starting);
  if (read.freshSource) starting.notice(read.freshSource, 'detail');
  for (const lost of [scriptNotice(read.prepareFiles), read.files.scriptNotice()])
    if (lost) starting.notice(oneLine(lost));
  starting.close();
  const view = createBatchView({ stream: io.stderr, quiet });
  try {
    const { deployment } = platform.config;
    // A repeated id attaches to its batch, even if the source no longer exists.
    if (options.check && !(options.id !== undefined && (await batchExists(platform, { deployment, batchId })))) {
      await checkWanted(wanted, { service: platform.service, signal: io.interrupted, notices: view });
    }
    const put = await readPutFiles(read.prepareFiles, platform.keepInput);
    const input = read.inputOf(put);
    // The results of two batches must not mix: the second is refused before it costs anything.
    const release = options.detach ? undefined : await claimResultFolder({ deployment, batchId }, options, io);
    try {
      await send(platform, input, filledItems(read, put, platform, io.interrupted), {
        ...{ signal: io.interrupted, view, context },
        total: survey.items,
        labels: read.labels,
      });
    } catch (error) {
      if (context.undone !== undefined || isOfAnother(error)) await release?.();
      throw error;
    }
    await read.close();
    const { outcome } = await platform.patiently(() => fanoutProgress(platform.temporal, { deployment, batchId }));
    // A batch that has ended before tells its end.
    if (options.detach && outcome === null) {
      for (const line of nextWhileBatchRuns(batchId, options.get)) view.notice(line, 'detail');
      view.close();
      return await printStarted(batchId, platform, io, options);
    }
    return await watchFanoutToEnd(platform, batchId, options, { context, view });
  } finally {
    view.close();
    await platform.close();
  }
}

/** The items with their sources and the content of their files. @param put the files of the preparation */
export async function* filledItems(
  { items, files, sourceOf }: Pick<FanoutCommand, 'items' | 'files' | 'sourceOf'>,
  put: readonly FilePut[],
  { keepInput }: Pick<Platform, 'keepInput'>,
  interrupted: AbortSignal,
): AsyncGenerator<NewFanoutItem> {
  for await (const item of items()) {
    interrupted.throwIfAborted();
    const source = sourceOf(item, put);
    yield { ...(await files.read(item, keepInput)), ...(source && { source }) };
  }
}

/** After these errors, the id belongs to another batch or workflow, and no item was sent to it. */
const isOfAnother = (error: unknown) =>
  error instanceof SandflowError && ['fanout_differs', 'not_a_fanout'].includes(error.code);

interface SendOptions {
  readonly signal: AbortSignal;
  readonly view: BatchView;
  /** Learns when the batch may have started. */
  readonly context: Pick<CommandContext, 'undone'>;
  readonly total: number;
  readonly labels: Labels;
}

async function send(
  platform: Platform,
  input: FanoutInput,
  items: AsyncIterable<NewFanoutItem>,
  { signal, view, context, total, labels }: SendOptions,
): Promise<void> {
  const { batchId } = input;
  try {
    const { started } = await platform.patiently(() =>
      submitFanout(platform.temporal, input, items, {
        ...platform.starting,
        labels,
        signal,
        onStart: () => {
          context.undone = undefined;
        },
        onProgress: ({ items: sent }) => view.step(`sending items: ${sent} of ${total}`),
      }),
    );
    if (started) view.notice(`Batch ${batchId} started with ${plural(total, 'item')}.`, 'detail');
    else view.notice(`Batch ${batchId} already exists; watching it. Use another --id for a new one.`, 'detail');
  } catch (error) {
    if (context.undone !== undefined || isOfAnother(error)) throw error;
    view.notice(
      `Not every item was sent; batch ${batchId} may be waiting for the rest. Send them with the same command and --id ${batchId}, or cancel it: ${programName} fanout cancel ${batchId}`,
    );
    throw error;
  }
}

function printSurvey(read: FanoutCommand, { json }: FanoutOptions, { io }: CommandContext): number {
  const { survey, policy, freshSource = null } = read;
  const { items, prompts, promptBytes, atOnce, namedAs } = survey;
  const { budgetSeconds } = policy;
  const plan = { sources: sourcePlan(survey, policy), ...mostOfBatch(survey, policy), budgetSeconds };
  if (json) printJson(io.stdout, { items, prompts, promptBytes, atOnce, namedAs, ...plan, policy, error: null });
  else
    for (const line of surveyLines(survey, { policy, freshSource }, io.stdout.columns || 80))
      io.stdout.write(`${line}\n`);
  return exitCodes.done;
}

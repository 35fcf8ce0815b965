import { pathToFileURL } from 'node:url';
import type { Config } from '../../config.js';
import { SandflowError } from '../../contract/workflow-safe/sandflow-error.js';
import type { CommandContext } from '../command.js';
import { configuredUi, isFullyConfigured } from '../connect/configured.js';
import { readStatus } from '../connect/stack-status.js';
import { withPlatform } from '../connect/with-platform.js';
import { linksOf, type TemporalUi, workflowsUrl } from '../output/job-links.js';
import { printJson } from '../output/json.js';
import { oneLine } from '../output/terminal-safe.js';
import { UsageError } from '../usage-error.js';
import { openInBrowser } from './browser.js';
import type { OpenOptions } from './options.js';

/**
 * Prints the URL unless a browser has opened it.
 * @throws UsageError if no stack is running, or if the address of Temporal's UI is unknown
 */
export async function openPage(
  id: string | undefined,
  { report = false, print = false, json = false }: OpenOptions,
  context: CommandContext,
): Promise<void> {
  const { io } = context;
  if (report && id === undefined) throw new UsageError('--report requires an id, of a job or a batch.');
  const config = await io.readConfig();
  const ui = await runningUi(config);
  const url = new URL(report && id !== undefined ? await reportUrl(id, context) : await uiUrl(id, ui, context));
  const mayOpen = io.stdout.isTTY === true && !print && !json;
  const opened = mayOpen && (await openInBrowser(url));
  if (json) return printJson(io.stdout, { url: url.href, opened, error: null });
  if (opened) io.stderr.write(`Opened ${oneLine(url.href)}\n`);
  else io.stdout.write(`${oneLine(url.href)}\n`);
  if (mayOpen && !opened) io.stderr.write('No browser could be started here. Open the URL yourself.\n');
}

/** @returns undefined if Temporal is configured without the address of its UI */
async function runningUi(config: Config): Promise<TemporalUi | undefined> {
  if (isFullyConfigured(config)) return configuredUi(config);
  const status = await readStatus(config.home);
  if (!status) throw new UsageError(`No stack is running in ${config.home}. Start it with \`sandflow up\`.`);
  const { stack } = status;
  if (!stack) throw new UsageError(`The stack in ${config.home} is ${status.state}. Try again when it is ready.`);
  if (config.temporal.configured) return configuredUi(config);
  return stack.uiUrl === undefined ? undefined : { url: stack.uiUrl, namespace: stack.namespace };
}

async function uiUrl(id: string | undefined, ui: TemporalUi | undefined, context: CommandContext): Promise<string> {
  if (!ui) {
    throw new UsageError(
      "The address of Temporal's UI is unknown, since a Temporal server is configured. Set SANDFLOW_TEMPORAL_UI to it.",
    );
  }
  if (id === undefined) return workflowsUrl(ui);
  await kindOf(id, context);
  const { deployment } = await context.io.readConfig();
  return linksOf({ deployment, jobId: id }, ui).uiUrl ?? workflowsUrl(ui);
}

async function reportUrl(id: string, context: CommandContext): Promise<string> {
  const kind = await kindOf(id, context);
  const path =
    kind === 'job'
      ? await (await import('../jobs/report-job.js')).writeJobReport(id, {}, context)
      : await (await import('../fanout/results/stored-results.js')).writeBatchReport(id, {}, context);
  return pathToFileURL(path).href;
}

/** @throws SandflowError `job_not_found` */
function kindOf(id: string, context: CommandContext): Promise<'job' | 'batch'> {
  return withPlatform(context, { jobId: id }, async ({ temporal, config: { deployment } }) => {
    try {
      const { describeJob } = await import('../../workflow-client/jobs/job-client.js');
      await describeJob(temporal, { deployment, jobId: id });
      return 'job';
    } catch (error) {
      if (error instanceof SandflowError && error.code === 'not_a_job') return 'batch';
      throw error;
    }
  });
}

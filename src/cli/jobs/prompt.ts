import { Option } from 'commander';
import type { PromptStep } from '../../../workflows/job/types.js';
import type { AddCommand } from '../command.js';

interface Options {
  readonly provider?: string;
  readonly model?: string;
  readonly effort?: PromptStep['reasoningEffort'];
  readonly json?: boolean;
}

export const addJobsPrompt: AddCommand = (parent, context) => {
  parent
    .command('prompt')
    .description('Send another prompt to a running job')
    .argument('<job>', 'id of the job')
    .argument('<prompt>', 'text, a file, or - for stdin')
    .option('--provider <name>', 'agent harness')
    .option('--model <name>', 'model of the provider')
    .addOption(
      new Option('--effort <level>', 'reasoning effort').choices(['none', 'low', 'medium', 'high', 'xhigh', 'max']),
    )
    .option('--json', 'print one JSON object on stdout')
    .action(async (jobId: string, given: string, options: Options) => {
      const { io } = context;
      const { readPrompts } = await import('../run/read-prompts.js');
      const [prompt = ''] = await readPrompts([given], [], io);
      const { withPlatform } = await import('../connect/with-platform.js');
      const { promptJob } = await import('../../temporal/jobs/client.js');
      const { provider, model, effort } = options;
      const { index } = await withPlatform(
        context,
        { jobId, needsWorker: true },
        ({ temporal, config, sharedResults }) =>
          promptJob(
            temporal,
            { deployment: config.deployment, jobId },
            { prompt, provider, model, reasoningEffort: effort },
            { results: sharedResults },
          ),
      );
      const { printJson } = await import('../output/json.js');
      if (options.json) printJson(io.stdout, { jobId, index, error: null });
      else io.stderr.write(`Job ${jobId} accepted it as prompt ${index + 1}.\n`);
    });
};

import type { Resolution } from '../../../workflows/messages.js';
import type { AddCommand } from '../command.js';
import { UsageError } from '../usage-error.js';

interface Options {
  readonly sent?: boolean;
  readonly resend?: boolean;
  readonly abandon?: boolean;
  readonly sandbox?: string;
  readonly conversation?: string;
  readonly promptId?: string;
  readonly json?: boolean;
}

export const addJobsResolve: AddCommand = (parent, context) => {
  parent
    .command('resolve')
    .description('Resolve a call whose outcome is unknown')
    .argument('<job>', 'id of the job')
    .option('--sent', 'the call took effect: adopt its result')
    .option('--resend', 'the call had no effect: send it again')
    .option('--abandon', 'end the job as outcome_unknown')
    .option('--sandbox <id>', 'with --sent for a create: the sandbox that it created')
    .option('--conversation <id>', 'with --sent for a prompt: its conversation, if known')
    .option('--prompt-id <id>', 'with --sent for a prompt: its id, if known')
    .option('--json', 'print one JSON object on stdout')
    .action(async (jobId: string, options: Options) => {
      const { io } = context;
      const resolution = resolutionOf(options);
      const { isSandboxId } = await import('../../contract/ids.js');
      if (resolution.sandboxId !== undefined && !isSandboxId(resolution.sandboxId)) {
        throw new UsageError(`--sandbox: "${resolution.sandboxId}" is not a sandbox id, like bx_2345abcd.`);
      }
      const { withPlatform } = await import('../connect/with-platform.js');
      const { resolveJob } = await import('../../temporal/jobs/client.js');
      const { step } = await withPlatform(context, { jobId, needsWorker: true }, ({ temporal, config }) =>
        resolveJob(temporal, { deployment: config.deployment, jobId }, resolution),
      );
      const { printJson } = await import('../output/json.js');
      if (options.json) printJson(io.stdout, { jobId, step, action: resolution.action, error: null });
      else io.stderr.write(`Resolved the ${step} of job ${jobId}: ${resolution.action}.\n`);
    });
};

function resolutionOf(options: Options): Resolution {
  const { sandbox: sandboxId, conversation: conversationId, promptId } = options;
  const actions = (['sent', 'resend', 'abandon'] as const).filter((action) => options[action]);
  const [action] = actions;
  if (action === undefined || actions.length > 1) {
    throw new UsageError('Give exactly one of --sent, --resend and --abandon.');
  }
  if (action !== 'sent' && (sandboxId ?? conversationId ?? promptId) !== undefined) {
    throw new UsageError('--sandbox, --conversation and --prompt-id require --sent.');
  }
  return { action, sandboxId, conversationId, promptId };
}

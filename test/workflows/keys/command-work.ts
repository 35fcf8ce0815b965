/** An invocation of each command that can call the service, which makes all calls that the command makes. */
import { execFileSync } from 'node:child_process';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isUsable } from '../../../src/contract/workflow-safe/states.js';
import { type Stand, script } from '../workflow-harness.js';

/** What the invocations refer to. */
export interface Known {
  readonly stand: Stand;
  /** An archived sandbox, which has a snapshot with the name `named`. */
  readonly sandboxId: string;
  /** A job and a batch that have ended, and whose waits no webhook has ended. */
  readonly jobId: string;
  readonly batchId: string;
  /** A job that has ended and worked in a fork. */
  readonly forkJobId: string;
  /** A job and a batch that have ended, and that named all that the service can be asked about before a start. */
  readonly namingJobId: string;
  readonly namingBatchId: string;
  /** A job and a batch at work on their prompts. The item is `item-0`. */
  readonly openJobId: string;
  readonly openBatchId: string;
}

type Words = readonly string[];
type Invocation = (known: Known, unique: string) => Words | Promise<Words>;
const hello = script('echo hello');
const everyNight = ['--cron', '30 2 * * *', '--zone', 'UTC'];
/** One that no bridge needs. */
async function webhookOf({ stand }: Known): Promise<string> {
  const url = 'http://127.0.0.1:9/other';
  const known = (await stand.api.listWebhooks()).webhooks.find((one) => one.url === url);
  return (known ?? (await stand.api.createWebhook({ name: 'other', url, events: ['sandbox.ready'] })).webhook).id;
}

async function usableId({ stand }: Known): Promise<string> {
  return (await stand.api.listSandboxes()).sandboxes.find(({ state }) => isUsable(state))?.id ?? '';
}
async function ownKey(): Promise<string> {
  const file = join(await mkdtemp(join(tmpdir(), 'sandflow-keys-')), 'key');
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', file]);
  return file;
}
const askNothing = ['BatchMode=yes', 'StrictHostKeyChecking=no', 'UserKnownHostsFile=/dev/null', 'LogLevel=ERROR'];

const naming = ['--environment', 'Default', '--provider', 'codex'];

/** By the words of docs/security.md. Several invocations of one command are other ways to use it. */
export const invocations: Readonly<Record<string, readonly Invocation[]>> = {
  run: [
    ({ sandboxId }, id) => ['run', hello, '--id', id, '--fork', sandboxId, '--detach'],
    (_, id) => ['run', hello, '--id', `${id}-from`, '--from', 'named', ...naming, '--detach'],
  ],
  continue: [({ jobId }, id) => ['continue', jobId, hello, '--id', id, '--provider', 'codex', '--detach']],
  fanout: [
    ({ sandboxId }) => ['fanout', 'items.txt', '--source', sandboxId, '--dry-run'],
    (_, id) => ['fanout', 'items.txt', '--id', id, '--snapshot', 'named', ...naming, '--detach'],
  ],
  'fanout list': [() => ['fanout', 'list']],
  'fanout show': [({ batchId }) => ['fanout', 'show', batchId]],
  'fanout watch': [({ batchId }) => ['fanout', 'watch', batchId]],
  'fanout cancel': [({ batchId }) => ['fanout', 'cancel', batchId]],
  'fanout resume': [
    ({ namingBatchId }) => ['fanout', 'resume', namingBatchId, '--dry-run'],
    ({ batchId }) => ['fanout', 'resume', batchId, '--detach'],
  ],
  'fanout results': [({ batchId }) => ['fanout', 'results', batchId]],
  'fanout logs': [({ openBatchId }) => ['fanout', 'logs', openBatchId, 'item-0']],
  'fanout report': [({ batchId }) => ['fanout', 'report', batchId]],
  'jobs list': [() => ['jobs', 'list']],
  'jobs show': [({ openJobId }) => ['jobs', 'show', openJobId]],
  'jobs logs': [({ openJobId }) => ['jobs', 'logs', openJobId]],
  'jobs watch': [
    ({ jobId }) => ['jobs', 'watch', jobId],
    ({ openJobId }) => ['jobs', 'watch', openJobId, '--watch-deadline', '1s'],
  ],
  'jobs rerun': [
    ({ forkJobId }, id) => ['jobs', 'rerun', forkJobId, '--id', id, '--detach'],
    ({ namingJobId }, id) => ['jobs', 'rerun', namingJobId, '--id', `${id}-naming`, '--detach'],
  ],
  'jobs prompt': [({ openJobId }) => ['jobs', 'prompt', openJobId, hello]],
  'jobs cancel': [({ jobId }) => ['jobs', 'cancel', jobId]],
  'jobs resolve': [({ openJobId }) => ['jobs', 'resolve', openJobId, '--abandon']],
  'schedule add': [
    (_, id) => ['schedule', 'add', id, 'batch.yaml', ...everyNight],
    (_, id) => ['schedule', 'add', `${id}-from`, 'job.yaml', ...everyNight],
    () => ['schedule', 'add', 'kept', 'batch.yaml', ...everyNight, '--replace'],
  ],
  'schedule list': [() => ['schedule', 'list']],
  'schedule show': [() => ['schedule', 'show', 'kept']],
  'schedule pause': [() => ['schedule', 'pause', 'kept']],
  'schedule resume': [() => ['schedule', 'resume', 'kept']],
  sandboxes: [() => ['sandboxes', '--cost']],
  'sandboxes show': [({ sandboxId }) => ['sandboxes', 'show', sandboxId]],
  exec: [async (known) => ['exec', await usableId(known), 'touch seen']],
  cp: [
    async (known) => ['cp', 'items.txt', `${await usableId(known)}:seen`],
    async (known) => ['cp', `${await usableId(known)}:seen`, 'copied.txt'],
  ],
  ssh: [
    async (known) => {
      const options = askNothing.flatMap((option) => ['-o', option]);
      return ['ssh', await usableId(known), '--identity', await ownKey(), '--', ...options, 'true'];
    },
  ],
  stop: [({ sandboxId }) => ['stop', sandboxId, '--wait']],
  'stop --all': [() => ['stop', '--all', '--name', 'nobody-*', '--yes']],
  'stops list': [() => ['stops', 'list']],
  'stops explain': [({ sandboxId }) => ['stops', 'explain', sandboxId]],
  'stops sweep': [() => ['stops', 'sweep', '--escalate', '1h: resume-and-stop', '--dry-run']],
  'cleanup plan': [() => ['cleanup', 'plan', 'policy.yaml']],
  'cleanup run': [() => ['cleanup', 'run', 'policy.yaml', '--all']],
  'cleanup report': [() => ['cleanup', 'report']],
  doctor: [() => ['doctor']],
  'webhooks connect': [({ stand }) => ['webhooks', 'connect', '--url', `${stand.bridgeUrl}/webhooks/sandbox`]],
  'webhooks list': [() => ['webhooks', 'list']],
  'webhooks rotate': [async (known) => ['webhooks', 'rotate', await webhookOf(known)]],
  'webhooks delete': [async (known) => ['webhooks', 'delete', await webhookOf(known)]],
};

/** Commands that never call the service with the key of the user, and what they do instead. */
export const others: Readonly<Record<string, string>> = {
  ...{ api: 'any call', worker: 'the table of the worker' },
  ...{ 'schedule run-now': 'Temporal', 'schedule remove': 'Temporal' },
  ...{ up: 'the stack', status: 'the stack', down: 'the stack', supervisor: 'the stack' },
  local: 'the local service',
  ...{ 'local clock': 'the local service', 'local seed': 'the local service', 'local reset': 'the local service' },
  ...{
    bridge: 'Temporal',
    'codec-server': 'files',
    config: 'files',
  },
  ...{
    'cleanup validate': 'files',
    'encryption new-key': 'files',
    'encryption off': 'files',
  },
};

/** `sandflow doctor --probe`: tries the assumptions about the service, within a budget that it states first. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { ApiError, ListIncompleteError, UnexpectedResponseError } from '../../../client/index.js';
import { assumptions } from '../../../contract/assumptions.js';
import { anySignal, timeLimit } from '../../../os/any-signal.js';
import { tryAcquireFileLock } from '../../../os/file-lock.js';
import { apiKeyOf } from '../../../os/key-file.js';
import type { CommandContext } from '../../command.js';
import { confirmed } from '../../confirmed.js';
import { checkService } from '../../connect/check-service.js';
import { type ServiceAtHand, withService } from '../../connect/with-service.js';
import { exitCodes } from '../../exit-codes.js';
import { printJson } from '../../output/json.js';
import { createPaint } from '../../output/terminal.js';
import { oneLine } from '../../output/terminal-safe.js';
import { badConfiguration, UsageError } from '../../usage-error.js';
import { type ProbeId, probes, settingsOf } from './probes.js';
import { beginRecord, createTrial, type Finding, isRefusal, Refuted } from './trial.js';

/** How long the probes, and then the deletes, may take, in ms. A read may lag by `lagMs`. */
const budget = { probesMs: 480_000, cleanUpMs: 120_000, lagMs: 90_000 };

const cost = `It creates at most two small sandboxes at a time, for at most ten minutes, and deletes them: about 600
machine-seconds at most, $0.02 at list price, unless it is killed. It sends one prompt of five words to an agent of the account.`;

/** @returns 0 if nothing is refuted and nothing is left */
export async function runProbe(
  { yes = false, json = false }: { readonly yes?: boolean; readonly json?: boolean },
  context: CommandContext,
  within = budget,
): Promise<number> {
  const { io } = context;
  const { sandboxService } = await io.readConfig();
  io.stderr.write(`This probes ${sandboxService?.apiUrl ?? 'the local service'}. ${cost}\n`);
  const unasked = 'A probe costs machine time and a prompt. Confirm with --yes.';
  if (!yes) await confirmed('Probe it?', { unasked, refused: 'Nothing was probed.' }, io);
  return withService(context, async (at) => {
    const say = (text: string) => json || io.stdout.write(`${oneLine(text)}\n`);
    const { record, path, left } = await probe(at, io, { ...within, tell });
    const { findings, sandboxes } = record;
    const healthy = left.length === 0 && findings.every(({ verdict }) => verdict !== 'refuted');
    const kept = `left what the next probe deletes: ${left.join(', ')}`;
    context.undone = left.length === 0 ? 'deleted what it made' : kept;
    const gone = Object.keys(sandboxes).filter((id) => sandboxes[id]?.isGone);
    say(`not tried  ${untried.why}: ${untried.ids.join(' ')}`);
    const count = (one: string) => `${findings.filter(({ verdict }) => verdict === one).length} ${one}`;
    say(`${Object.keys(colours).map(count).join(', ')}.`);
    if (gone.length > 0) say(`Deleted, and seen to be gone: ${gone.join(', ')}.`);
    if (left.length > 0) say(`Left, until the next probe deletes it: ${left.join(', ')}.`);
    say(`The record: ${path}`);
    io.interrupted.throwIfAborted();
    const { deviations, settings } = record;
    if (json) printJson(io.stdout, { healthy, deviations, settings, findings, left, record: path, error: null });
    return healthy ? exitCodes.done : exitCodes.otherOutcome;

    function tell({ id, verdict, why, follows, requests }: Finding): void {
      if (json) return;
      const seen = verdict !== 'not tried' && requests.length > 0 ? ` (${requests.slice(-3).join('; ')})` : '';
      const paint = createPaint(io.stdout)(colours[verdict], verdict.padEnd(9));
      io.stdout.write(`${paint}  ${id.padEnd(22)} ${oneLine(`${why}${seen}`)}\n`);
      if (follows !== undefined) io.stdout.write(`${' '.repeat(34)}${follows}\n`);
    }
  });
}

const untried = {
  ids: Object.keys(assumptions).filter((id) => !Object.hasOwn(probes, id)),
  why: 'There is no probe (docs/maintainers/assumptions.md says why)',
};

const colours = { confirmed: 'green', refuted: 'red', 'not tried': 'dim' } as const;

type Within = typeof budget & { readonly tell: (finding: Finding) => void };

async function probe(at: ServiceAtHand, io: CommandContext['io'], { probesMs, cleanUpMs, lagMs, tell }: Within) {
  const { sandboxService, home } = at.config;
  if (sandboxService === undefined) throw badConfiguration('There is no service to probe.');
  const notice = (text: string) => void io.stderr.write(`${text}\n`);
  const login = await checkService(at.config, { signal: io.interrupted, notice });
  // Another account neither sees nor deletes what the record names.
  const owner = login ?? (await apiKeyOf(sandboxService));
  const account = createHash('sha256').update(`${sandboxService.apiUrl} ${owner}`).digest('hex').slice(0, 12);
  const path = join(home, 'probes', `${account}.json`);
  const lock = tryAcquireFileLock(`${path}.lock`);
  if (lock === undefined) throw new UsageError('Another probe of this account is running.');
  const record = await beginRecord(path);
  const signal = anySignal([io.interrupted, timeLimit(probesMs)]);
  const trial = createTrial({ ...at, to: sandboxService, login, record, path, signal, lagMs });
  try {
    await trial.cleanUp(cleanUpMs);
    for (const [id, tries] of Object.entries(probes)) {
      const before = trial.lines.length;
      const trying = signal.aborted ? Promise.reject(signal.reason) : tries(trial);
      const { variant, ...tried } = await trying.then(measured, (error) => verdictOf(error, id));
      const requests = trial.lines.slice(before);
      const isRefuted = tried.verdict === 'refuted';
      if (isRefuted && id in assumptions) record.deviations.push(variant ? `${id}.${variant}` : id);
      const follows = isRefuted ? (consequences[id as ProbeId] ?? asItIs) : undefined;
      const finding = { id, ...tried, follows, requests };
      record.findings.push(finding);
      tell(finding);
    }
    const { ids, why } = untried;
    for (const id of ids) record.findings.push({ id, verdict: 'not tried', why, requests: [] });
    record.settings = settingsOf(trial);
    return { record, path, left: await trial.cleanUp(cleanUpMs) };
  } finally {
    await trial.close();
    lock.release();
  }

  function verdictOf(error: Error, id: string): Tried {
    const why = error instanceof ApiError ? `the answer is ${error.status} ${error.code}` : error.message;
    const isUnreadable = error instanceof UnexpectedResponseError && error.meaning === 'unreadable';
    const isCut = error instanceof ListIncompleteError && id === 'A-paging';
    const isRefuted = error instanceof Refuted || isCut || isUnreadable;
    const variant = error instanceof Refuted ? error.variant : '';
    // A conflict is about the state of a sandbox at that moment.
    if (isRefuted || (isRefusal(error) && error.status !== 409)) return { verdict: 'refuted', why, variant };
    const ended = io.interrupted.aborted ? 'interrupted' : 'the time of the probe was over';
    return { verdict: 'not tried', why: signal.aborted ? ended : why };
  }
}

type Tried = Pick<Finding, 'verdict' | 'why'> & { readonly variant?: string };

const measured = (found: unknown): Tried => ({ verdict: 'confirmed', why: typeof found === 'string' ? found : '' });

/** The setting that helps, or the promise that no longer holds. */
const consequences: Readonly<Partial<Record<ProbeId, string>>> = {
  clock: 'Synchronise the clock of this machine: deliveries are refused at 300 s or more.',
  delivery: 'Jobs react later, by safety polls. `doctor` without --probe says what is wrong with the bridge.',
  'A-limits': 'A batch is not told before its start that its window is above the limit.',
  'A-provider-models': 'No model is checked before a start.',
  'A-environment-list': 'No environment is checked before a start.',
  'A-webhook-record': '`webhooks` and `doctor` do not see the registrations of the account.',
  'A-api-key-row': '`doctor` does not know an unrestricted key.',
  'A-request-form': 'Set it for every command and worker.',
  'A-create-fields': 'A job gets its events by the watch of its sandbox. A cleanup does not see whose a sandbox is.',
  'A-read-lag': 'A job may take its sandbox for missing, and make another one.',
  'A-created-by': 'A rule of a cleanup with `creator` must name what a sandbox shows as `createdBy`.',
  'A-idempotency-body': 'A create whose answer is lost may make a second sandbox: that promise no longer holds.',
  'A-auto-stop-renewal': 'A job makes the auto-stop shorter and longer again. If that does not help: a longer --ttl.',
  'A-files': '`--put`, `--get` and `cp` fail.',
  'A-command': '`exec`, `--command` and `--get-diff` fail.',
  'A-posix-shell': 'Commands of jobs fail: they need mkdir, mkfifo and tee.',
  'A-prompt-states': 'A job does not see the end of its prompts in the state of the sandbox.',
  'A-events': '`jobs logs` shows less. Without a promptId, an answer may be missing.',
  'A-fork': 'Batches and `--fork` fail.',
  'A-stop-states': 'A job that ends while its sandbox is being created may not stop it.',
  'A-paging': 'Lists are followed in any usual form; of another one, commands end with `list_incomplete`.',
  'A-snapshot-record': 'A cleanup sees no snapshots, and `--from` is not checked before a start.',
  'A-header-family': 'Without SANDBOX_API_HEADER_PREFIX nothing is deleted: set it for every command and worker.',
  'A-deleted-key': 'A create that is repeated after its sandbox was deleted makes another one.',
};

const asItIs = 'Jobs end well without it (docs/maintainers/assumptions.md).';

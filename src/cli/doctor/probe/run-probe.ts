/** `sandflow doctor --probe`: tries the assumptions about the service, within a budget that it states first. */
import { createHash, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from '../../../config.js';
import { endpoints } from '../../../contract/endpoints/endpoints.js';
import { ownHeaderPrefix } from '../../../contract/request-form.js';
import { anySignal, timeLimit } from '../../../os/any-signal.js';
import { tryAcquireFileLock } from '../../../os/file-lock.js';
import type { CommandContext } from '../../command.js';
import { confirmed } from '../../confirmed.js';
import { checkService, clientOf } from '../../connect/check-service.js';
import { withService } from '../../connect/with-service.js';
import { exitCodes } from '../../exit-codes.js';
import { printJson } from '../../output/json.js';
import { badConfiguration, UsageError } from '../../usage-error.js';
import { type Finding, printFinding, printSummary } from './findings.js';
import { beginRecord, createOwnSandboxes, saveRecord } from './own-sandboxes.js';
import { probes, type Trial, type Tries } from './probes.js';
import { ask, type Call, NotTried, type Observed, Refuted } from './trial.js';
import { notTried, whatFollows } from './what-follows.js';

/** How long the probes, and then the deletes, may take, in ms. A read may lag by `lagMs`. */
const budget = { probesMs: 480_000, cleanUpMs: 120_000, lagMs: 90_000 };

const cost = `It creates at most two small sandboxes at a time, for at most ten minutes, and deletes them: at most 600
machine-seconds, $0.02 at list price. It sends one prompt of five words to an agent of the account.`;

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
  return withService(context, async ({ config }) => {
    const tell = (finding: Finding) => json || printFinding(finding, io);
    const { record, path, left } = await probe(config, io, { ...within, tell });
    const healthy = left.length === 0 && record.findings.every(({ verdict }) => verdict !== 'refuted');
    const gone = Object.keys(record.sandboxes).filter((id) => record.sandboxes[id]?.isGone);
    if (!json) printSummary(record.findings, { gone, left, path }, io);
    const kept = `left what the next probe deletes: ${left.join(', ')}`;
    context.undone = left.length === 0 ? 'deleted what it made' : kept;
    io.interrupted.throwIfAborted();
    if (json) printJson(io.stdout, { healthy, findings: record.findings, left, record: path, error: null });
    return healthy ? exitCodes.done : exitCodes.otherOutcome;
  });
}

type Within = typeof budget & { readonly tell: (finding: Finding) => unknown };

async function probe(config: Config, io: CommandContext['io'], { probesMs, cleanUpMs, lagMs, tell }: Within) {
  const { sandboxService: service, home } = config;
  if (service === undefined) throw badConfiguration('There is no service to probe.');
  const notice = (text: string) => void io.stderr.write(`${text}\n`);
  const login = await checkService(config, { signal: io.interrupted, notice });
  // Another account neither sees nor deletes what the record names.
  const account = createHash('sha256').update(`${service.apiUrl} ${login}`).digest('hex').slice(0, 12);
  const path = join(home, 'probes', `${account}.json`);
  const lock = tryAcquireFileLock(`${path}.lock`);
  if (lock === undefined) throw new UsageError('Another probe of this account is running.');
  let client = clientOf(service);
  const clients = [client];
  try {
    const record = await beginRecord(path);
    const save = () => saveRecord(path, record);
    const observed: Observed = { lines: [], otherAnswers: new Set(), pauses: [] };
    const call =
      (signal: AbortSignal): Call =>
      (endpoint, parts) =>
        ask(client, endpoint, parts, { observed, signal });
    let prefix = service.headerPrefix ?? ownHeaderPrefix;
    const useHeaderPrefix = (headerPrefix: string) => {
      if (headerPrefix.toLowerCase() === prefix.toLowerCase()) return false;
      prefix = headerPrefix;
      client = clientOf({ ...service, headerPrefix });
      clients.push(client);
      return true;
    };
    const ownTools = { call: call(new AbortController().signal), save, lagMs, useHeaderPrefix };
    const own = createOwnSandboxes(record, ownTools);
    await own.cleanUp(cleanUpMs);
    const signal = anySignal([io.interrupted, timeLimit(probesMs)]);
    const at: Trial = {
      ...{ name: `sandflow-probe-${randomBytes(6).toString('hex')}`, form: service, login, observed, signal, lagMs },
      ask(endpoint, parts = {}) {
        const id = parts.id ?? at.source?.id;
        if (id === undefined && endpoints[endpoint].path.includes('{')) throw new NotTried('there is no sandbox');
        return call(signal)(endpoint, { ...parts, id });
      },
      async create(key, body, from) {
        signal.throwIfAborted();
        return own.create(key, body, from);
      },
      remove: own.remove,
      headerPrefix: own.headerPrefix,
      async until(mostMs, read, is) {
        const endsAt = Date.now() + mostMs;
        for (let pauseMs = 100; ; pauseMs = Math.min(2_000, pauseMs * 1.5)) {
          const seen = await read();
          if (is(seen) || Date.now() + pauseMs > endsAt) return seen;
          await sleep(pauseMs, undefined, { signal });
        }
      },
    };
    for (const [needs, table] of probes) {
      for (const [id, tries] of Object.entries(table)) {
        const before = observed.lines.length;
        const { verdict, why } = await verdictOf(tries, at, io.interrupted);
        const follows = verdict === 'refuted' ? whatFollows(id) : null;
        const finding = { id, needs, verdict, why, follows, requests: observed.lines.slice(before) };
        record.findings.push(finding);
        tell(finding);
      }
    }
    for (const [why, ids] of Object.entries(notTried))
      for (const id of ids.split(' ')) record.findings.push({ ...untried, id, why });
    const left = await own.cleanUp(cleanUpMs);
    return { record, path, left };
  } finally {
    for (const one of clients) await one.close();
    lock.release();
  }
}

const untried = { needs: '', verdict: 'not tried', follows: null, requests: [] } as const;

async function verdictOf(tries: Tries, at: Trial, interrupted: AbortSignal): Promise<Pick<Finding, 'verdict' | 'why'>> {
  try {
    const measured = await tries(at);
    return { verdict: 'confirmed', why: typeof measured === 'string' ? measured : '' };
  } catch (error) {
    const { message } = error as Error;
    if (error instanceof Refuted) return { verdict: 'refuted', why: message };
    const ended = interrupted.aborted ? 'interrupted' : 'the time of the probe was over';
    return { verdict: 'not tried', why: at.signal.aborted ? ended : message };
  }
}

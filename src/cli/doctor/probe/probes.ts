/** The table of probes: assumption → what it does, cheapest first. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AssumptionId } from '../../../contract/assumptions.js';
import type { EndpointName } from '../../../contract/endpoints/endpoints.js';
import { omittableFields, type RequestForm } from '../../../contract/request-form.js';
import { machineTypes } from '../../../contract/workflow-safe/machine-types.js';
import { isCreating, isFinalPromptStatus, isUsable, promptStatuses } from '../../../contract/workflow-safe/states.js';
import { judgeClock } from '../check-headers.js';
import { kindOf, NotTried, type Observed, type Parts, Refuted, type Seen, want, wantForm, wordOf } from './trial.js';

export interface Trial {
  /** The parameter `id` is by default that of the source. @throws NotTried without one, and as `ask` */
  readonly ask: (endpoint: EndpointName, parts?: Parts) => Promise<Seen>;
  /** As `ask`, for a create or, of a source, a fork. @throws NotTried if there are two sandboxes already */
  readonly create: (key: string, body: object, id?: string) => Promise<Seen>;
  /** Deletes it, with the header that the service names if it refuses ours. */
  readonly remove: (id: string) => Promise<Seen>;
  /** The prefix that it has learnt so. */
  readonly headerPrefix: () => string | undefined;
  /** The last read, which shows what is waited for unless the time was over. */
  readonly until: (mostMs: number, read: () => Promise<Seen>, is: (seen: Seen) => boolean) => Promise<Seen>;
  /** A name that no other run has. */
  readonly name: string;
  readonly form: RequestForm;
  readonly login: string | null;
  readonly observed: Observed;
  readonly signal: AbortSignal;
  /** How long a read may lag, in ms. */
  readonly lagMs: number;
  source?: { readonly id: string; readonly key: string; readonly body: Fields; readonly made: Seen };
  forked?: Seen;
  prompt?: Seen;
  model?: string;
  stopId?: unknown;
  deleted?: Seen;
}

type Fields = Readonly<Record<string, unknown>>;
/** @returns what was measured, if it is a text. @throws Refuted, NotTried */
export type Tries = (at: Trial) => Promise<unknown>;
type Table = Readonly<Partial<Record<AssumptionId | 'clock', Tries>>>;

const ttlSeconds = 600;
const bootMs = 240_000;
const file = 'sandflow-probe.txt';

function given<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new NotTried(`there is no ${what}`);
  return value;
}

/** A list shows the form of its rows only if it has one. */
const ofList = (endpoint: EndpointName, rows: string) => async (at: Trial) =>
  given(wantForm(endpoint, await at.ask(endpoint)).rows(rows)[0], 'row to look at');
const form = (endpoint: EndpointName, parts?: Parts) => async (at: Trial) =>
  wantForm(endpoint, await at.ask(endpoint, parts));

const idIn = (seen: Seen) => String(seen.of('sandbox.id'));
const stateIn = (seen: Seen) => wordOf(seen.of('sandbox.state'), 'unknown');

async function inState(at: Trial, is: (state: string) => boolean): Promise<Seen> {
  const ended = (seen: Seen) => is(stateIn(seen)) || ['error', 'cancelled'].includes(stateIn(seen));
  const seen = await at.until(bootMs, () => at.ask('getSandbox'), ended);
  if (!is(stateIn(seen))) throw new NotTried(`the sandbox is ${stateIn(seen)}`);
  return seen;
}
const usable = (at: Trial) => inState(at, isUsable);

async function runs(at: Trial, command: string, output: string): Promise<void> {
  await usable(at);
  const seen = await form('runCommand', { body: { command } })(at);
  want(seen.of('exitCode') === 0 && seen.of('stdout') === output, 'the command ends or prints otherwise');
}

const account: Table = {
  async clock(at) {
    const { header, sentAt, at: endedAt } = await at.ask('getMe');
    const { status, message } = judgeClock(header('date') ?? null, (sentAt + endedAt) / 2);
    want(status === 'ok', message);
    return message;
  },
  'A-limits': form('getLimits'),
  'A-provider-models': ofList('listProviderModels', 'providers'),
  'A-environment-list': ofList('listEnvironments', 'environments'),
  'A-webhook-record': ofList('listWebhooks', 'webhooks'),
  'A-api-key-row': ofList('listApiKeys', 'apiKeys'),
  'A-data-retention': form('getDataRetention'),
  'A-repos': ofList('listRepos', 'repos'),
  'A-secrets': ofList('listSecrets', 'secrets'),
};

const sandbox: Table = {
  async 'A-request-form'(at) {
    // A key that may not delete shall create nothing. Ids of the service have no zero.
    await at.ask('deleteSandbox', { id: 'bx_00000000' });
    const whole: Fields = { name: at.name, type: 'small', ttlSeconds };
    const leaves = [[], ['name'], ['ttlSeconds'], ['name', 'ttlSeconds']].map((one) => [
      ...one,
      ...(at.form.omit ?? []),
    ]);
    for (const [left, isUuid] of [false, true].flatMap((one) => leaves.map((omit) => [omit, one] as const))) {
      const body = Object.fromEntries(Object.entries(whole).filter(([name]) => !left.includes(name)));
      const key = isUuid ? randomUUID() : `${at.name}-1`;
      const made = await at.create(key, body);
      if (!made.isOk) continue;
      at.source = { id: idIn(made), key, body, made };
      if (at.form.omit?.length || at.form.uuidKeys) throw new NotTried('settings change the form already');
      const omit = omittableFields.filter((name) => left.includes(name)).join(',');
      const sets = [omit && `SANDBOX_API_OMIT=${omit}`, isUuid && 'SANDBOX_API_UUID_KEYS=true'].filter(Boolean);
      return want(sets.length === 0, `creates need ${sets.join(' and ')}`);
    }
    throw new NotTried('the service refuses to create a sandbox');
  },
  async 'A-create-fields'(at) {
    const { made, body } = given(at.source, 'sandbox');
    want(made.of('sandbox.name') === given(body.name, 'name in the create'), 'the name of a create is not kept');
  },
  async 'A-read-lag'(at) {
    const { id, made } = given(at.source, 'sandbox');
    const has = (seen: Seen) => seen.rows('sandboxes').some((row) => row.id === id);
    const read = await at.until(
      at.lagMs,
      () => at.ask('getSandbox'),
      ({ isOk }) => isOk,
    );
    const list = await at.until(at.lagMs, () => at.ask('listSandboxes'), has);
    want(read.isOk && has(list), `a ${read.isOk ? 'list' : 'read'} does not show a sandbox after ${at.lagMs} ms`);
    return `read after ${read.at - made.at} ms, listed after ${list.at - made.at} ms`;
  },
  async 'A-created-by'(at) {
    const seen = await at.ask('getSandbox');
    want(seen.of('sandbox.createdBy') === given(at.login ?? undefined, 'login'), 'createdBy is not the login');
  },
  async 'A-idempotency-body'(at) {
    const { id, key, body } = given(at.source, 'sandbox');
    const again = () => at.create(key, Object.fromEntries(Object.entries(body).reverse()));
    const same = await at.until(at.lagMs, again, ({ code }) => code !== 'idempotency_in_progress');
    want(same.isOk, 'the same key with the same body is refused');
    want(idIn(same) === id, 'the same key with the same body makes a second sandbox');
    want(!(await at.create(key, { ...body, monitoring: false })).isOk, 'the same key with another body is accepted');
  },
  async 'A-machine'(at) {
    const seen = await usable(at);
    const { vcpu, memoryGB } = machineTypes.small;
    const isSame = seen.of('sandbox.vcpu') === vcpu && seen.of('sandbox.memoryGB') === memoryGB;
    want(isSame, `a small machine has not ${vcpu} vCPUs and ${memoryGB} GB`);
  },
  async 'A-auto-stop-renewal'(at) {
    const endsAt = (seen: Seen) => Date.parse(String(seen.of('sandbox.archiveAfter')));
    const before = endsAt(await usable(at));
    if (Number.isNaN(before)) throw new NotTried('the sandbox has no archiveAfter');
    await sleep(1_100, undefined, { signal: at.signal });
    const moves = async (seconds: number) =>
      endsAt(await at.ask('updateSandbox', { body: { ttlSeconds: seconds } })) > before;
    if (await moves(ttlSeconds)) return;
    await moves(ttlSeconds - 1);
    const mended = (await moves(ttlSeconds)) ? 'until it is made shorter and longer again' : 'by any update';
    throw new Refuted(`archiveAfter does not move ${mended}`);
  },
  async 'A-names'(at) {
    const rename = (length: number) => at.ask('updateSandbox', { body: { name: at.name.padEnd(length, 'x') } });
    want((await rename(100)).isOk, 'a name of 100 characters is refused');
    want(!(await rename(101)).isOk, 'a name of 101 characters is accepted');
  },
  'A-usage': form('getSandboxUsage'),
  async 'A-files'(at) {
    await usable(at);
    await form('writeFile', { body: { path: file, content: at.name } })(at);
    const read = await form('readFile', { query: { path: file } })(at);
    want(read.of('content') === at.name, 'the content is not what was written');
  },
  'A-command': (at) => runs(at, 'printf probed', 'probed'),
  'A-posix-shell'(at) {
    const pipe = `/tmp/${at.name}/pipe`;
    return runs(
      at,
      `mkdir /tmp/${at.name} && mkfifo ${pipe} && (printf piped > ${pipe} &) && tee ${pipe}-copy < ${pipe}`,
      'piped',
    );
  },
};

/** The record of the prompt, once it has ended. */
async function promptOf(at: Trial): Promise<Seen> {
  const of = given(given(at.prompt, 'prompt').of('promptId'), 'promptId');
  const read = () => at.ask('getPrompt', { of });
  const isFinal = (seen: Seen) => isFinalPromptStatus(String(seen.of('prompt.status')));
  return wantForm('getPrompt', await at.until(at.lagMs, read, isFinal));
}

async function history(at: Trial, query: Readonly<Record<string, string | number>> = {}) {
  given(at.prompt, 'prompt');
  return (await at.ask('listEvents', { query })).rows('events');
}

const prompt: Table = {
  async 'A-prompt-id'(at) {
    const offered = (await at.ask('listProviderModels')).rows('providers').find((row) => row.configured === true);
    const [listed] = [offered?.models].flat() as readonly (Fields | undefined)[];
    const named = listed?.model ? { provider: offered?.provider, model: listed.model } : {};
    const send = (more: object) =>
      at.ask('sendPrompt', { body: { prompt: 'Answer with the word ready.', new: true, ...more } });
    const first = await send(named);
    const sent = first.status === 400 ? await send({}) : first;
    if (!sent.isOk) throw new NotTried(`the prompt is refused: ${sent.status} ${sent.code}`);
    Object.assign(at, { prompt: sent, model: sent === first ? listed?.model : undefined });
    want(
      typeof sent.of('promptId') === 'string',
      `promptId is ${kindOf(sent.of('promptId'))}; the answer has ${sent.fields}`,
    );
  },
  async 'A-prompt-states'(at) {
    const { sentAt } = given(at.prompt, 'prompt');
    const seen = await at.until(
      bootMs,
      () => at.ask('getSandbox'),
      (one) => stateIn(one) === 'idle',
    );
    if (stateIn(seen) === 'running') throw new NotTried('the prompt did not end in time');
    want(stateIn(seen) === 'idle', `the sandbox is ${stateIn(seen)} after its prompt`);
    return `idle after ${seen.at - sentAt} ms`;
  },
  async 'A-prompt-record'(at) {
    const seen = await promptOf(at);
    const [status, result] = [seen.of('prompt.status'), seen.of('prompt.result')];
    want(
      promptStatuses.some((known) => known === status),
      `the status of a prompt is ${wordOf(status, kindOf(status))}`,
    );
    if (status !== 'completed') throw new NotTried(`the prompt is ${status}`);
    want(typeof result === 'string', `result is ${kindOf(result)}`);
  },
  async 'A-model-names'(at) {
    const model = given(at.model, 'listed model of a provider with a login');
    want(
      (await promptOf(at)).of('prompt.model') === model,
      'the record names another model than the one that was sent',
    );
  },
  async 'A-events'(at) {
    const rows = await history(at);
    want(rows.length > 0, 'there are no rows in `events`');
    const lacking = ['type', 'createdAt'].filter((name) => rows.some((row) => typeof row[name] !== 'string'));
    want(lacking.length === 0, `${lacking.join(' and ')} of an event is no text`);
    const [queued, ended] = ['prompt.queued', 'prompt.completed'].map((type) =>
      rows.findIndex((row) => row.type === type),
    );
    want(queued !== -1 && ended !== -1, 'no event has the type prompt.queued, or none prompt.completed');
    want(Number(queued) < Number(ended), 'the oldest event is not the first');
    want((await history(at, { limit: 1 })).length === 1, 'limit=1 is ignored');
  },
  async 'A-event-ids'(at) {
    const rows = await history(at);
    const { id } = given(rows.find(({ type }) => type === 'prompt.queued') ?? rows[0], 'event');
    want(/^sev_[0-9a-f]{24}$/.test(String(id)), `the id of an event is ${kindOf(id)} of another form`);
    const next = await history(at, { after: String(id) });
    want(next.length > 0 && next.every((row) => row.id !== id), '`after` does not continue after its event');
  },
};

/** Fields with which lists of other services go on. */
const moreFields = ['nextCursor', 'next', 'cursor', 'nextPage', 'page', 'hasMore'];

const second: Table = {
  async 'A-fork'(at) {
    const { id, key, body } = given(at.source, 'sandbox');
    await usable(at);
    const forked = await at.create(key.startsWith(at.name) ? `${at.name}-2` : randomUUID(), body, id);
    at.forked = forked.isOk ? forked : undefined;
    want(wantForm('forkSandbox', forked).of('sourceSandboxId') === id, 'sourceSandboxId is not the id of the source');
  },
  async 'A-stop-states'(at) {
    const forked = given(at.forked, 'fork');
    if (!isCreating(stateIn(forked))) throw new NotTried('the fork was ready at once');
    const { isOk, code } = await at.ask('stopSandbox', { id: idIn(forked) });
    if (isOk) throw new NotTried('the stop was accepted; the fork may have been ready by then');
    want(code === 'machine_not_running', `the stop of a sandbox that is being created is refused with ${code}`);
  },
  async 'A-list-order'(at) {
    const ids = [given(at.source, 'sandbox').id, idIn(given(at.forked, 'fork'))];
    const own = (seen: Seen) => seen.rows('sandboxes').filter((row) => ids.some((id) => id === row.id));
    const list = await at.until(
      at.lagMs,
      () => at.ask('listSandboxes'),
      (seen) => own(seen).length === 2,
    );
    if (own(list).length < 2) throw new NotTried('the list does not show both sandboxes');
    want(own(list)[0]?.id === ids[0], 'the newer sandbox is before the older one');
  },
  async 'A-paging'(at) {
    given(at.forked, 'fork');
    const whole = await at.ask('listSandboxes');
    const more = whole.header('link') ? 'Link' : moreFields.find((name) => whole.of(name) || whole.of(name) === 0);
    want(more === undefined, `a list without \`limit\` has ${more}`);
    const page = await at.ask('listSandboxes', { query: { limit: 1 } });
    want(page.rows('sandboxes').length === 1, 'limit=1 is ignored');
    const cursor = page.of('nextCursor');
    want(typeof cursor === 'string', `nextCursor is ${kindOf(cursor)}; the answer has ${page.fields}`);
    const next = await at.ask('listSandboxes', { query: { limit: 1, cursor: String(cursor) } });
    const [one, other] = [page, next].map((seen) => seen.rows('sandboxes')[0]?.id);
    const isNext = one !== other && whole.rows('sandboxes').some((row) => row.id === other);
    want(isNext, 'nextCursor does not lead to the next page');
  },
};

const end: Table = {
  async 'A-stop-answer'(at) {
    await usable(at);
    const seen = await at.ask('stopSandbox');
    at.stopId = seen.of('stop.id') ?? (await at.ask('getSandbox')).of('sandbox.stop.id');
    want(wantForm('stopSandbox', seen).of('stop') != null, `stop is missing; the answer has ${seen.fields}`);
  },
  async 'A-stop-read'(at) {
    const seen = await form('getStop', { of: given(at.stopId, 'stop') })(at);
    want(seen.of('id') === at.stopId, 'the id of the answer is not that of the stop');
  },
  async 'A-snapshot-record'(at) {
    given(at.stopId, 'stop');
    await inState(at, (state) => state === 'archived');
    await ofList('listSandboxSnapshots', 'snapshots')(at);
    await form('getLatestSnapshot')(at);
  },
  async 'A-confirmation'(at) {
    const seen = await at.ask('deleteSandbox');
    if (seen.isOk) at.deleted = seen;
    want(!seen.isOk, 'a delete without the header is accepted');
    want(seen.code === 'confirmation_required', `a delete without the header is refused with ${seen.code}`);
  },
  async 'A-header-family'(at) {
    const seen = await at.remove(given(at.source, 'sandbox').id);
    if (seen.isOk) at.deleted ??= seen;
    const headerPrefix = at.headerPrefix();
    want(headerPrefix === undefined, `deletes need SANDBOX_API_HEADER_PREFIX=${headerPrefix}`);
    want(seen.code !== 'confirmation_required', 'a delete with our header is refused as if it had none');
  },
  async 'A-deletion-operation'(at) {
    const seen = given(at.deleted, 'accepted delete');
    const id = seen.of('operationId');
    if (typeof id !== 'string') throw new Refuted(`operationId is ${kindOf(id)}; the answer has ${seen.fields}`);
    const read = () => at.ask('getDeletionOperation', { id });
    const isDone = (one: Seen) => one.of('operation.status') === 'completed';
    want(isDone(await at.until(bootMs, read, isDone)), 'the record of a deletion does not end as completed');
  },
  async 'A-deleted-key'(at) {
    given(at.deleted, 'accepted delete');
    const { id, key, body } = given(at.source, 'sandbox');
    want(idIn(await at.create(key, body)) === id, 'the key of a deleted sandbox does not name it');
  },
  async 'A-answer-types'({ observed: { otherAnswers } }) {
    want(otherAnswers.size === 0, [...otherAnswers].slice(0, 5).join('; '));
  },
  async 'A-retry-after'({ observed: { pauses } }) {
    given(pauses[0], '429 with Retry-After, and the probe provokes none');
  },
};

/** By what they need. The end of a sandbox needs one. */
export const probes: readonly (readonly [needs: string, table: Table])[] = [
  ['account', account],
  ['sandbox', sandbox],
  ['prompt', prompt],
  ['second sandbox', second],
  ['sandbox', end],
];

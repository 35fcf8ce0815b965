/** The table of probes: assumption → what it does, cheapest first. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Query } from '../../../client/call-options.js';
import type { AssumptionId } from '../../../contract/assumptions.js';
import type { EndpointName } from '../../../contract/endpoints/endpoints.js';
import { omittableFields, type RequestForm } from '../../../contract/request-form.js';
import { isCreating, isFinalPromptStatus, isUsable, promptStatuses } from '../../../contract/workflow-safe/states.js';
import { checkActions, noId } from '../check-actions.js';
import { checkHeaders } from '../check-headers.js';
import { checkBridge, checkDelivery, checkWebhook } from '../check-webhook.js';
import { workerActions } from '../needed-actions.js';
import { isRefusal, NotTried, Refuted, type Trial } from './trial.js';

/** @returns what was measured, if it is a text. @throws Refuted, NotTried, and what the client throws */
type Tries = (at: Trial) => Promise<unknown>;
export type ProbeId = AssumptionId | 'clock' | 'key' | 'delivery';

const ttlSeconds = 600;
/** Of creates, those that take least away first. */
const forms = [false, true].flatMap((uuidKeys) =>
  [[], ['name'], ['ttlSeconds'], omittableFields].map((omit) => ({ omit, uuidKeys }) as RequestForm),
);
const bootMs = 240_000;
const file = 'sandflow-probe.txt';

function want(holds: boolean, why: string, variant?: string): void {
  if (!holds) throw new Refuted(why, variant);
}

function given<T>(value: T | undefined | null, what: string): T {
  if (value == null) throw new NotTried(`there is no ${what}`);
  return value;
}

/** The code with which a call is refused; undefined if it is not. */
const refusal = (call: Promise<unknown>) =>
  call.then(
    () => undefined,
    (error) => {
      if (isRefusal(error)) return error.code;
      throw error;
    },
  );

/** A list shows the form of its rows only if it has one. */
const ofList = (endpoint: EndpointName): Tries =>
  async function tryList({ ask }) {
    let leftOut = 0;
    const answer: object = await ask(endpoint, { onRowsLeftOut: (rows) => (leftOut = rows) });
    want(leftOut === 0, 'a row cannot be read');
    given(Object.values(answer).find(Array.isArray)?.[0], 'row to look at');
  };

const isPromptStatus = (status: string) => promptStatuses.some((known) => known === status);

/** Only a word of the service is printed: any other text may be content. */
const wordOf = (value: string) => (/^[\w.-]{1,40}$/.test(value) ? value : 'no word');
const namesIn = (answer: object) => `; the answer has ${Object.keys(answer).map(wordOf).join(', ')}`;
/** What creates send, and forks. */
const bodyOf = ({ name }: Trial) => ({ name, type: 'small', ttlSeconds });

async function inState(at: Trial, is: (state: string) => boolean) {
  const read = async () => (await at.ask('getSandbox')).sandbox;
  const seen = await at.until(bootMs, read, ({ state }) => is(state) || ['error', 'cancelled'].includes(state));
  if (!is(seen.state)) throw new NotTried(`the sandbox is ${seen.state}`);
  return seen;
}

async function runs(at: Trial, command: string, output: string): Promise<void> {
  await inState(at, isUsable);
  const { exitCode, stdout } = await at.ask('runCommand', { body: { command } });
  at.found.hasRun = true;
  want(exitCode === 0 && stdout === output, 'the command ends or prints otherwise');
}

async function history(at: Trial, query: Query = {}) {
  given(at.found.prompt, 'prompt');
  return (await at.ask('listEvents', { query })).events;
}

export const probes: Readonly<Partial<Record<ProbeId, Tries>>> = {
  // Of the account: these cost nothing.
  async clock({ to }) {
    const [clock] = await checkHeaders(to.apiUrl);
    const { status, message } = given(clock, 'answer');
    if (status === 'skipped') throw new NotTried(message);
    want(status !== 'failed', message);
    return message;
  },
  'A-limits': ({ ask }) => ask('getLimits'),
  'A-provider-models': ofList('listProviderModels'),
  'A-environment-list': ofList('listEnvironments'),
  'A-webhook-record': ofList('listWebhooks'),
  'A-api-key-row': ofList('listApiKeys'),

  // Of a sandbox.
  async 'A-request-form'(at) {
    // A key that may not delete shall create nothing.
    await refusal(at.ask('deleteSandbox', noId));
    const { omit, uuidKeys } = at.form;
    for (const [index, form] of (omit || uuidKeys ? [{ omit, uuidKeys } as RequestForm] : forms).entries()) {
      at.use(form);
      // A key that was refused may stay in use for some minutes.
      const key = `1-${index}`;
      const made = at.create(key, bodyOf(at));
      if ((await refusal(made)) !== undefined) continue;
      at.found.key = key;
      at.found.source = (await made).sandbox;
      const variant = form.uuidKeys ? 'uuid-keys' : form.omit?.[0] === 'ttlSeconds' ? 'ttl' : '';
      const needed = Object.entries(settingsOf({ form })).map((pair) => pair.join('='));
      return want(needed.length === 0, `creates need ${needed.join(' and ')}`, variant);
    }
    throw new NotTried('the service refuses to create a sandbox');
  },
  async 'A-create-fields'(at) {
    if (at.form.omit?.includes('name')) throw new NotTried('creates have no name');
    want(given(at.found.source, 'sandbox').name === at.name, 'the name of a create is not kept');
  },
  async 'A-read-lag'({ ask, found, until, lagMs }) {
    const { id } = given(found.source, 'sandbox');
    const since = Date.now();
    const isShown = async () => {
      const isRead = (await refusal(ask('getSandbox'))) === undefined;
      return isRead && (await ask('listSandboxes')).sandboxes.some((row) => row.id === id);
    };
    want(await until(lagMs, isShown, Boolean), `a read or a list does not show a sandbox after ${lagMs} ms`);
    return `shown after ${Date.now() - since} ms`;
  },
  async 'A-created-by'({ ask, login }) {
    const { sandbox } = await ask('getSandbox');
    want(sandbox.createdBy === given(login, 'login'), 'createdBy is not the login');
  },
  async 'A-idempotency-body'(at) {
    const key = given(at.found.key, 'sandbox');
    const { id } = await inState(at, isUsable);
    const again = await at.create(key, Object.fromEntries(Object.entries(bodyOf(at)).reverse()));
    want(again.sandbox.id === id, 'the same key with the same body makes a second sandbox');
    const other = await refusal(at.create(key, { ...bodyOf(at), monitoring: false }));
    want(other !== undefined, 'the same key with another body is accepted');
  },
  async delivery(at) {
    // The messages of the first two checks have URLs, which may hold secrets.
    const { check, bridgeUrl } = await checkWebhook(at.reads, at.to.apiUrl);
    if (check.status !== 'ok' || !bridgeUrl) throw new NotTried('no registration leads all events to a bridge');
    if ((await checkBridge(bridgeUrl, at.config)).status === 'failed') throw new NotTried('the bridge does not answer');
    // Before that there is no event.
    const { id } = await inState(at, isUsable);
    const read = () => checkDelivery(bridgeUrl, id);
    // A delivery is repeated for two minutes.
    const seen = await at.until(at.lagMs * 1.5, read, (delivery) => delivery === 'arrived');
    want(seen !== 'refused', 'the bridge refuses the deliveries of the service');
    if (seen === 'missing') throw new NotTried('no event of the sandbox has reached the bridge that was asked');
    return 'an event of the sandbox has reached the bridge';
  },
  async 'A-auto-stop-renewal'(at) {
    const before = Date.parse(given((await inState(at, isUsable)).archiveAfter, 'archiveAfter'));
    await sleep(1_100, undefined, { signal: at.signal });
    const { sandbox } = await at.ask('updateSandbox', { body: { ttlSeconds } });
    want(Date.parse(sandbox.archiveAfter ?? '') > before, 'archiveAfter does not move by an update');
  },
  async 'A-files'(at) {
    await inState(at, isUsable);
    await at.ask('writeFile', { body: { path: file, content: at.name } });
    const { content } = await at.ask('readFile', { query: { path: file } });
    want(content === at.name, 'the content is not what was written');
  },
  'A-command': (at) => runs(at, 'printf probed', 'probed'),
  async 'A-posix-shell'(at) {
    given(at.found.hasRun, 'readable answer to a command');
    const pipe = `/tmp/${at.name}/pipe`;
    const piped = `mkfifo ${pipe} && (printf piped > ${pipe} &) && tee ${pipe}-copy < ${pipe}`;
    await runs(at, `mkdir /tmp/${at.name} && ${piped}`, 'piped');
  },

  // Of a prompt.
  async 'A-prompt-id'({ ask, found }) {
    const { providers } = await ask('listProviderModels');
    const [{ provider = undefined, models: [listed] = [] } = {}] = providers.filter(({ configured }) => configured);
    for (const named of listed ? [{ provider, model: listed.model }, {}] : [{}]) {
      const sent = ask('sendPrompt', { body: { prompt: 'Answer with the word ready.', new: true, ...named } });
      if ((await refusal(sent)) !== undefined) continue;
      Object.assign(found, { prompt: await sent, model: named.model });
      return want((await sent).promptId != null, `promptId is missing${namesIn(await sent)}`);
    }
    throw new NotTried('the service refuses the prompt');
  },
  async 'A-prompt-states'({ ask, found, until, lagMs }) {
    given(found.prompt, 'prompt');
    const read = async () => (await ask('getSandbox')).sandbox.state;
    const mayRunFrom = Date.now() + lagMs;
    const hasEnded = (now: string) => now === 'idle' || (now !== 'running' && Date.now() > mayRunFrom);
    const state = await until(bootMs, read, hasEnded);
    if (state === 'running') throw new NotTried('the prompt did not end in time');
    want(state === 'idle', `the sandbox is ${wordOf(state)} after its prompt`);
  },
  async 'A-prompt-record'({ ask, found, until, lagMs }) {
    const promptId = given(given(found.prompt, 'prompt').promptId, 'promptId');
    const read = async () => (await ask('getPrompt', { promptId })).prompt;
    found.record = await until(lagMs, read, ({ status }) => isFinalPromptStatus(status));
    const { status, result } = found.record;
    want(isPromptStatus(status), `the status of a prompt is ${wordOf(status)}`);
    if (status !== 'completed') throw new NotTried(`the prompt is ${status}`);
    want(result != null, 'result is missing');
  },
  async 'A-model-names'({ found }) {
    const model = given(found.model, 'listed model of a provider with a login');
    const { model: shown } = given(found.record, 'record of the prompt');
    want(shown === model, 'the record names another model than the one that was sent');
  },
  async 'A-events'(at) {
    const isEnd = ({ type }: { type: string }) => type === 'prompt.completed';
    const rows = await at.until(
      at.lagMs,
      () => history(at),
      (seen) => seen.some(isEnd),
    );
    want(rows.length > 0, 'no row in `events` can be read');
    const isTimed = rows.every(({ createdAt }) => createdAt != null);
    want(isTimed, 'an event has no createdAt', 'timestamps');
    // A prompt that failed or still runs has other events.
    const { status } = at.found.record ?? {};
    if (status !== undefined && status !== 'completed' && isPromptStatus(status))
      throw new NotTried(`the prompt is ${status}`);
    const placeOf = (type: string) => rows.findIndex((row) => row.type === type);
    const [queued, ended] = [placeOf('prompt.queued'), placeOf('prompt.completed')];
    want(queued !== -1 && ended !== -1, 'no event has the type prompt.queued, or none prompt.completed', 'words');
    want(queued < ended, 'the oldest event is not the first', 'newest-first');
  },
  async 'A-event-ids'(at) {
    const rows = await history(at);
    const { id } = given(rows.find(({ type }) => type === 'prompt.queued') ?? rows[0], 'event');
    want(/^sev_[0-9a-f]{24}$/.test(id), `the id of an event is ${/^\d+$/.test(id) ? 'a number' : 'of another form'}`);
    const next = await history(at, { after: id });
    want(next.length > 0 && next.every((row) => row.id !== id), '`after` does not continue after its event');
  },

  // Of a second sandbox.
  async 'A-fork'(at) {
    const { id } = given(at.found.source, 'sandbox');
    await inState(at, isUsable);
    const forked = await at.create('2', bodyOf(at), id);
    at.found.forked = forked.sandbox;
    want(forked.sourceSandboxId === id, 'sourceSandboxId is not the id of the source');
  },
  async 'A-stop-states'({ ask, found }) {
    const { id, state } = given(found.forked, 'fork');
    if (!isCreating(state)) throw new NotTried('the fork was ready at once');
    const code = await refusal(ask('stopSandbox', { sandboxId: id }));
    if (code === undefined) throw new NotTried('the stop was accepted; the fork may have been ready by then');
    want(code === 'machine_not_running', `the stop of a sandbox that is being created is refused with ${code}`);
  },
  async 'A-paging'({ ask, found }) {
    const ids = [given(found.source, 'sandbox').id, given(found.forked, 'fork').id];
    const { sandboxes } = await ask('listSandboxes');
    if (!ids.every((id) => sandboxes.some((row) => row.id === id))) throw new NotTried('the list lacks a sandbox');
    const page = await ask('listSandboxes', { query: { limit: 1 } });
    want(page.nextCursor != null, `nextCursor is missing${namesIn(page)}`);
    const next = await ask('listSandboxes', { query: { limit: 1, cursor: page.nextCursor ?? '' } });
    want(page.sandboxes[0]?.id !== next.sandboxes[0]?.id, 'nextCursor does not lead to the next page');
  },

  // Of the end of a sandbox.
  async 'A-stop-answer'(at) {
    await inState(at, isUsable);
    const answer = await at.ask('stopSandbox');
    at.found.stopId = (answer.stop ?? (await at.ask('getSandbox')).sandbox.stop)?.id;
    want(answer.stop != null, `stop is missing${namesIn(answer)}`);
  },
  async 'A-stop-read'({ ask, found }) {
    const stopId = given(found.stopId, 'stop');
    want((await ask('getStop', { stopId })).id === stopId, 'the id of the answer is not that of the stop');
  },
  async 'A-snapshot-record'(at) {
    given(at.found.stopId, 'stop');
    await inState(at, (state) => state === 'archived');
    await ofList('listSandboxSnapshots')(at);
  },
  async 'A-header-family'(at) {
    const removed = at.remove(given(at.found.source, 'sandbox').id);
    const code = (await refusal(removed)) ?? 'confirmation_required';
    if (code !== 'confirmation_required') throw new NotTried(`the delete is refused with ${code}`);
    at.found.deleted = await removed;
    want(!at.form.headerPrefix, `deletes need SANDBOX_API_HEADER_PREFIX=${at.form.headerPrefix}`);
  },
  async 'A-deletion-operation'({ ask, found, until }) {
    const answer = given(found.deleted, 'accepted delete');
    const { operationId } = answer;
    if (!operationId) throw new Refuted(`operationId is missing${namesIn(answer)}`);
    const read = async () => (await ask('getDeletionOperation', { operationId })).operation?.status;
    const status = await until(bootMs, read, (now) => now === 'completed');
    want(status === 'completed', 'the record of a deletion does not end as completed');
  },
  async 'A-deleted-key'(at) {
    given(at.found.deleted, 'accepted delete');
    const { sandbox } = await at.create(given(at.found.key, 'sandbox'), bodyOf(at));
    want(sandbox.id === at.found.source?.id, 'the key of a deleted sandbox does not name it');
  },

  // Of all calls.
  async key({ reads, service, granted }) {
    const isOfWorker = (action: string) => Object.hasOwn(workerActions, action);
    const [used, more] = [true, false].map((is) => [...granted].filter((one) => isOfWorker(one) === is).join(', '));
    const { message } = await checkActions(reads, service);
    return `The calls of a job used ${used}. The key also has ${more || 'no other that was tried'}. ${message}`;
  },
};

/** The settings that the service needs, for the environment. */
export const settingsOf = ({ form: { headerPrefix, omit = [], uuidKeys } }: Pick<Trial, 'form'>) => ({
  ...(headerPrefix && { SANDBOX_API_HEADER_PREFIX: headerPrefix }),
  ...(omit.length > 0 && { SANDBOX_API_OMIT: omit.join(',') }),
  ...(uuidKeys && { SANDBOX_API_UUID_KEYS: 'true' }),
});

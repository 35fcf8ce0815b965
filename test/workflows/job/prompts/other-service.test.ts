/**
 * Jobs on a service that shows prompts otherwise, behind a proxy that rewrites the answers of the local service. Gate;
 * costs some 12 CPU seconds.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createSandboxClient, type SandboxClient } from '../../../../src/client/index.js';
import type { Resolution } from '../../../../src/protocol/messages.js';
import { type JobInput, type JobResult, resolveUpdate } from '../../../../workflows/index.js';
import { type Stand as HttpStand, sendJson, startStand } from '../../../unit/client/http-harness.js';
import { progressOf } from '../../job-progress.js';
import { heal } from '../../stop/stop-harness.js';
import { createStand, type Stand, script, shortTiming } from '../../workflow-harness.js';

type Body = Record<string, unknown>;
/** What the service answers instead; undefined for what it answers. */
type Rewrite = (read: string, body: Body) => { readonly status?: number; readonly body: object } | undefined;

let stand: Stand;
let proxy: HttpStand;
let client: SandboxClient;
let rewrite: Rewrite = () => undefined;

/** `prompts`, `events`, `prompt` or another word that ends the path of a sandbox's read. */
const readOf = (path: string) => path.split('?')[0]?.match(/sandboxes\/[^/]+\/([^/]+)/)?.[1] ?? '';

beforeAll(async () => {
  stand = await createStand({
    connect: async (serviceUrl) => {
      const { origin } = new URL(serviceUrl);
      proxy = await startStand(async ({ method, url, headers, body }, response) => {
        const { authorization = '', 'idempotency-key': key, 'x-svc-confirm-delete': confirm } = headers;
        const sent = {
          ...{ authorization, 'content-type': 'application/json' },
          ...(typeof key === 'string' && { 'idempotency-key': key }),
          ...(typeof confirm === 'string' && { 'x-svc-confirm-delete': confirm }),
        };
        const answer = await fetch(`${origin}${url}`, { method, headers: sent, ...(body !== '' && { body }) });
        const read = (await answer.json()) as Body;
        const other = answer.ok ? rewrite(readOf(url), read) : undefined;
        sendJson(response, other?.status ?? answer.status, other?.body ?? read);
      });
      client = createSandboxClient({ baseUrl: proxy.url, apiKey: 'test-key' });
      return client;
    },
  });
});
afterEach(async () => {
  rewrite = () => undefined;
  await heal(stand);
});
afterAll(async () => {
  await stand.close();
  await client.close();
  await proxy.close();
});

const two = ['one', 'two'].map((word) => ({ prompt: script(`echo ${word}`) }));
const timing = { ...shortTiming, readLagMs: 1_500 };
const run = async (over: Partial<JobInput> = {}): Promise<JobResult> =>
  (await stand.start({ prompts: two, timing, ...over })).result();
const promptsOf = ({ sandboxId }: { readonly sandboxId: string | null }) =>
  stand.service.books.prompts({ sandboxId: sandboxId ?? '' });
/** The answer to a prompt, without its id. */
const withoutId = (read: string, { promptId: _, ...body }: Body) => (read === 'prompt' ? { body } : undefined);
const eventsOf = ({ events }: Body) => events as Body[];

describe('two prompts are each sent once, and end', () => {
  it('with their answers, if the history has numbers for ids and times, the newest event first', async () => {
    rewrite = (read, body) => {
      if (read !== 'events') return withoutId(read, body);
      const events = eventsOf(body).map((event) => ({
        ...event,
        ...{ id: Number.parseInt(String(event.id).slice(-6), 16), promptId: undefined },
        createdAt: Date.parse(String(event.createdAt)),
      }));
      return { body: { ok: true, events: events.toReversed() } };
    };
    const result = await run();
    expect(result).toMatchObject({ outcome: 'completed', prompts: [{ result: 'one\n' }, { result: 'two\n' }] });
    expect(promptsOf(result)).toHaveLength(2);
  });

  it('with their answers, if the records have other words and the history is under another key', async () => {
    rewrite = (read, body) => {
      if (read === 'events') return { body: { ok: true, items: [] } };
      if (read !== 'prompts') return undefined;
      const prompt = body.prompt as Body;
      const word = prompt.status === 'completed' ? 'succeeded' : 'in_progress';
      return { body: { ok: true, prompt: { ...prompt, status: word, endedAt: null } } };
    };
    const result = await run();
    expect(result).toMatchObject({ outcome: 'completed', prompts: [{ result: 'one\n' }, { result: 'two\n' }] });
    expect(result.prompts.map(({ note }) => note)).toEqual(Array(2).fill(expect.stringContaining('"succeeded"')));
    expect(promptsOf(result)).toHaveLength(2);
  });

  it.each([
    ['completed without an answer, which the job lacks', 'wait', 'completed', ['completed', 'completed']],
    ['as unknown, if the policy is to abandon', 'abandon', 'outcome_unknown', ['unknown', 'not_sent']],
  ] as const)('%s', async (_, onUnknownOutcome, outcome, statuses) => {
    rewrite = (read, body) => {
      if (read === 'prompts') return { status: 405, body: { ok: false, code: 'method_not_allowed', message: 'no' } };
      return read === 'events' ? { body: { ok: true, items: [] } } : withoutId(read, body);
    };
    const result = await run({ onUnknownOutcome });
    expect(result).toMatchObject({ outcome, stop: { kept: 'saved' } });
    expect(result.prompts.map(({ status }) => status)).toEqual(statuses);
    expect(result.prompts[0]).toMatchObject({ result: null, note: expect.stringContaining('listEvents') });
    expect(promptsOf(result)).toHaveLength(statuses.filter((status) => status !== 'not_sent').length);
  });

  it('together, in conversations side by side, once the whole sandbox is idle', async () => {
    rewrite = (read, body) => {
      if (read === 'events') return { body: { ok: true, items: [] } };
      return read === 'prompts' ? { body: { ok: true, run: body.prompt } } : undefined;
    };
    const result = await run({ conversations: 'each', prompts: [...two.slice(0, 1), { prompt: script('sleep 3') }] });
    expect(result).toMatchObject({ outcome: 'completed', prompts: [{ status: 'completed' }, { status: 'completed' }] });
    expect(promptsOf(result).map(({ status }) => status)).toEqual(['completed', 'completed']);
  });
});

describe('a prompt that the service accepted and does not show', () => {
  const hidden: Rewrite = (read, body) => {
    if (read === 'events') return { body: { ok: true, events: [] } };
    return withoutId(read, body);
  };
  const one = { prompts: two.slice(0, 1), end: 'delete' } as const;
  const blocked = async (over: Partial<JobInput> = {}) => {
    rewrite = hidden;
    const job = await stand.start({ ...one, timing, ...over });
    await expect.poll(async () => (await progressOf(job)).blocked?.reason).toBe('outcome_unknown');
    return job;
  };
  const resolve = (job: Awaited<ReturnType<typeof blocked>>, decision: Resolution) =>
    job.executeUpdate(resolveUpdate, { args: [decision] });

  it.each([
    ['an id', withoutId],
    [
      'no id',
      (read: string, body: Body) =>
        read === 'events'
          ? { body: { ok: true, events: eventsOf(body).map((event) => ({ ...event, promptId: null })) } }
          : withoutId(read, body),
    ],
  ])('is waited for, and found once the service shows it, by %s', async (_, shown) => {
    const job = await blocked();
    rewrite = shown;
    const result = await job.result();
    expect(result).toMatchObject({ outcome: 'completed', prompts: [{ result: 'one\n' }], deletion: {} });
    expect(promptsOf(result)).toHaveLength(1);
    expect(result.prompts[0]).not.toHaveProperty('note');
  });

  it('keeps its sandbox from being deleted if the decision is to abandon it', async () => {
    const job = await blocked();
    await resolve(job, { action: 'abandon' });
    const result = await job.result();
    expect(result).toMatchObject({
      ...{ outcome: 'outcome_unknown', deletion: null, stop: { kept: 'saved' } },
      ...{
        prompts: [{ status: 'unknown' }],
        left: [{ kind: 'sandbox', why: expect.stringContaining('does not show') }],
      },
    });
    expect((await stand.api.getSandbox(result.sandboxId ?? '')).sandbox.state).toBe('archived');
  });

  it('keeps its sandbox from being deleted if the job is cancelled meanwhile', async () => {
    const job = await blocked();
    await job.cancel();
    expect(await job.result()).toMatchObject({ outcome: 'cancelled', deletion: null, stop: { kept: 'saved' } });
  });

  it('has ended without an answer if a person says that it was sent', async () => {
    const job = await blocked();
    await resolve(job, { action: 'sent' });
    const result = await job.result();
    expect(result).toMatchObject({ outcome: 'completed', prompts: [{ status: 'completed', result: null }] });
    // The agent may have worked, or work.
    expect(result).toMatchObject({ deletion: null, stop: { kept: 'saved' } });
    expect(promptsOf(result)).toHaveLength(1);
  });

  it('is not sent again by the policy', async () => {
    const job = await blocked({ onUnknownOutcome: 'resend' });
    let reads = 0;
    rewrite = (read, body) => {
      if (read === 'events') reads += 1;
      return hidden(read, body);
    };
    // After fewer, the policy decides in place of a person.
    await expect.poll(() => reads).toBeGreaterThan(4);
    rewrite = withoutId;
    const result = await job.result();
    expect(result).toMatchObject({ outcome: 'completed', prompts: [{ result: 'one\n' }] });
    expect(promptsOf(result)).toHaveLength(1);
  });

  it('is sent again only if a person says so', async () => {
    const job = await blocked();
    rewrite = (read, body) => {
      if (read !== 'events') return withoutId(read, body);
      const events = eventsOf(body);
      const last = events.findLastIndex(({ type }) => type === 'prompt.queued');
      return { body: { ok: true, events: last > 0 ? events.slice(last) : [] } };
    };
    await resolve(job, { action: 'resend' });
    const result = await job.result();
    expect(result).toMatchObject({ outcome: 'completed', prompts: [{ result: 'one\n' }] });
    expect(promptsOf(result)).toHaveLength(2);
  });
});

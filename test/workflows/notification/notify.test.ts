import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createNotifySecrets } from '../../../src/notify/index.js';
import { verifyNotification } from '../../../src/webhook/index.js';
import { resolveUpdate } from '../../../workflows/index.js';
import { createStand, type Stand } from '../workflow-harness.js';
import { deliveriesOf, type Listener, openListener } from './listener.js';

let stand: Stand;
let listener: Listener;
let directory: string;
const secret = (letter: string) => `whsec_${Buffer.from(letter.repeat(32)).toString('base64')}`;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'sandflow-notify-'));
  const secretFile = join(directory, 'notify-secrets');
  await writeFile(secretFile, `${secret('b')}\n${secret('a')}\n`, { mode: 0o600 });
  stand = await createStand({ worker: { notifySecrets: createNotifySecrets(secretFile) } });
  listener = await openListener();
});
afterAll(async () => {
  await stand.close();
  await listener.close();
  await rm(directory, { recursive: true });
});

it('a job notifies a URL that it has ended', async () => {
  const handle = await stand.start({ notify: { url: listener.url } });
  const result = await handle.result();
  await Promise.all((await deliveriesOf(stand, handle.workflowId, 1)).map((delivery) => delivery.result()));
  const told = listener.toldOf(handle.workflowId).map(({ body }) => JSON.parse(body));
  expect(told).toMatchObject([{ event: 'ended', outcome: 'completed', sandboxId: result.sandboxId }]);
});

it('a chat gets a text, and what it answers to a text that it refuses is shown', async () => {
  listener.answerWith({ status: 400, body: 'no_text\n' });
  const handle = await stand.start({ notify: { url: listener.url, chat: 'slack' } });
  await handle.result();
  const [delivery] = await deliveriesOf(stand, handle.workflowId, 1);
  await expect(delivery?.result()).rejects.toMatchObject({
    cause: { cause: { message: 'The notification was answered with status 400: no_text.' } },
  });
  const sent = listener.told.find(({ body }) => body.includes('"text"'));
  const jobId = handle.workflowId.replace('sf-test-', '');
  expect(JSON.parse(sent?.body ?? '')).toEqual({
    text: `Job \`${jobId}\` ended: \`completed\`. See \`sandflow jobs show ${jobId}\``,
  });
  expect(sent?.headers).not.toHaveProperty('webhook-signature');
});

it('a job notifies that it is blocked, and then that it has ended', async () => {
  await stand.fault({ kind: 'error', endpoint: 'sendPrompt', status: 502, html: true });
  const handle = await stand.start({ notify: { url: listener.url } });
  const events = () => listener.toldOf(handle.workflowId).map(({ body }) => JSON.parse(body).event);
  await expect.poll(events).toEqual(['blocked']);
  await handle.executeUpdate(resolveUpdate, { args: [{ action: 'abandon' }] });
  await handle.result();
  await expect.poll(events).toEqual(['blocked', 'ended']);
});

it('a notification is signed by every secret of the worker, and every attempt has the same id and body', async () => {
  listener.answerWith(500, 429, 404, 204);
  const handle = await stand.start({ notify: { url: listener.url } });
  await handle.result();
  await expect.poll(() => listener.toldOf(handle.workflowId)).toHaveLength(4);
  const told = listener.toldOf(handle.workflowId);
  expect(new Set(told.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
  expect(new Set(told.map(({ body }) => body)).size).toBe(1);
  for (const { headers, body } of told) {
    const { id } = JSON.parse(body) as { id: string };
    for (const letter of ['a', 'b']) {
      expect(verifyNotification({ headers, rawBody: body, secrets: [secret(letter)] })).toMatchObject({ ok: true, id });
    }
    expect(verifyNotification({ headers, rawBody: body, secrets: [secret('c')] })).toMatchObject({ ok: false });
  }
});

it.each([307, 410, 401])(
  'a notification is refused for good by status %i: nothing is repeated, and no redirect is followed',
  async (status) => {
    const elsewhere = await openListener();
    listener.answerWith({ status, headers: { location: elsewhere.url } });
    const handle = await stand.start({ notify: { url: listener.url } });
    expect((await handle.result()).outcome).toBe('completed');
    const [delivery] = await deliveriesOf(stand, handle.workflowId, 1);
    await expect(delivery?.result()).rejects.toMatchObject({
      cause: { cause: { type: 'notify_failed', message: `The notification was answered with status ${status}.` } },
    });
    expect(listener.toldOf(handle.workflowId)).toHaveLength(1);
    expect(elsewhere.told).toEqual([]);
    await elsewhere.close();
  },
);

it('a notification is not sent unsigned if the secrets cannot be read, and continues when they can', async () => {
  const file = join(directory, 'later');
  const late = await createStand({ worker: { notifySecrets: createNotifySecrets(file) } });
  try {
    const handle = await late.start({ notify: { url: listener.url } });
    await handle.result();
    const [delivery] = await deliveriesOf(late, handle.workflowId, 1);
    const failures = async () => (await delivery?.describe())?.raw.pendingActivities?.[0]?.lastFailure?.message;
    await expect.poll(failures).toContain('does not exist');
    expect(listener.toldOf(handle.workflowId)).toEqual([]);
    await writeFile(file, secret('a'), { mode: 0o600 });
    await delivery?.result();
    expect(listener.toldOf(handle.workflowId)).toHaveLength(1);
  } finally {
    await late.close();
  }
});

/** A local service for one test, called with plain fetch, so that our client cannot hide a mistake. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished, vi } from 'vitest';
import type {
  DeletionOperation,
  Prompt,
  ProviderModels,
  Sandbox,
  SandboxHistoryEvent,
  StopOperation,
  Webhook,
} from '../../../src/contract/index.js';
import {
  createLocalService,
  type FaultInput,
  type InspectionSummary,
  type LocalService,
  type LocalServiceOptions,
} from '../../src/index.js';

export const apiKey = 'test-key-of-the-local-service';

/** Every field that some answer has. A test reads those of the answer that it expects, and asserts their values. */
interface AnswerBody {
  readonly ok: boolean;
  readonly type: string;
  readonly status: number | string;
  readonly code: string;
  readonly message: string;
  readonly error: {
    readonly code: string;
    readonly message: string;
    readonly status: number;
    readonly details?: { readonly provider: string; readonly setupUrl: string };
  };
  readonly requestId: string;
  readonly id: string;
  readonly sandbox: Sandbox;
  readonly sandboxes: readonly Sandbox[];
  readonly nextCursor: string | null;
  readonly stop: StopOperation;
  readonly prompt: Prompt;
  readonly promptId: string;
  readonly conversationId: string;
  readonly events: readonly SandboxHistoryEvent[];
  readonly interrupted: number;
  readonly operationId: string;
  readonly operation: DeletionOperation;
  readonly webhook: Webhook;
  readonly webhooks: readonly Webhook[];
  readonly secret: string;
  readonly providers: readonly ProviderModels[];
  readonly stdout: string;
  readonly content: string;
  readonly encoding: string;
  readonly size: number;
  readonly faults: readonly unknown[];
  readonly summary: InspectionSummary;
  readonly calls: readonly unknown[];
  readonly prompts: readonly unknown[];
}

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: AnswerBody;
  /** The body as it was received. */
  readonly text: string;
}

export interface ServiceUnderTest {
  readonly service: LocalService;
  readonly directory: string;
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  /** Creates a sandbox and returns its id. */
  create(body?: Readonly<Record<string, unknown>>): Promise<string>;
  /** Waits until a sandbox is in one of these states, and returns it. */
  reach(sandboxId: string, ...states: readonly string[]): Promise<Sandbox>;
  /** Creates a sandbox and waits until it is ready. */
  ready(body?: Readonly<Record<string, unknown>>): Promise<string>;
  prompt(sandboxId: string, text: string, more?: Readonly<Record<string, unknown>>): Promise<Answer>;
  /** Waits until a prompt has ended, and returns it. */
  promptEnd(sandboxId: string, promptId: string): Promise<Prompt>;
  /** Stops a sandbox, waits until it is archived, and returns it. */
  archive(sandboxId: string): Promise<Sandbox>;
  arm(fault: FaultInput): Promise<Answer>;
}

interface CallOptions {
  readonly body?: unknown;
  /** Sent as it is, instead of `body`. */
  readonly rawBody?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Under `/_local` instead of `/v1`. */
  readonly admin?: boolean;
}

const fastTimings = {
  bootMs: 4,
  archiveMs: 4,
  hydrationMs: 0,
  stopRetryMs: 20,
  deleteMs: 2,
  webhookRetryMs: 10,
};

export async function emptyDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'sandflow-local-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

/** Starts a service that ends with the test. */
export async function startService(options: Partial<LocalServiceOptions> = {}): Promise<ServiceUnderTest> {
  const directory = options.directory ?? (await emptyDirectory());
  const service = await createLocalService({
    apiKey,
    faultsEnabled: true,
    isolation: 'plain',
    ...options,
    directory,
    timings: { ...fastTimings, ...options.timings },
  });
  onTestFinished(() => service.close());
  await service.listen();
  return talkTo(service, directory);
}

function talkTo(service: LocalService, directory: string): ServiceUnderTest {
  async function call(method: string, path: string, options: CallOptions = {}): Promise<Answer> {
    const { body, rawBody, headers, admin } = options;
    const sent = rawBody ?? (body === undefined ? undefined : JSON.stringify(body));
    const response = await fetch(`${admin ? service.adminUrl : service.url}${path}`, {
      method,
      body: sent,
      headers: {
        authorization: `Bearer ${apiKey}`,
        ...(sent === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
    });
    const text = await response.text();
    const json = response.headers.get('content-type')?.startsWith('application/json');
    return { status: response.status, headers: response.headers, body: json ? JSON.parse(text) : {}, text };
  }

  function waitFor<Found>(path: string, find: (body: AnswerBody) => Found | undefined): Promise<Found> {
    return vi.waitFor(
      async () => {
        const { body } = await call('GET', path);
        const found = find(body);
        if (found === undefined) throw new Error(`not yet: ${JSON.stringify(body)}`);
        return found;
      },
      // As long as the polls of the project.
      { timeout: 120_000, interval: 5 },
    );
  }

  const under: ServiceUnderTest = {
    service,
    directory,
    call,
    async create(body = {}) {
      const { body: answer } = await call('POST', '/sandboxes', { body });
      return answer.sandbox.id;
    },
    reach: (id, ...states) =>
      waitFor(`/sandboxes/${id}`, ({ sandbox }) => (states.includes(sandbox?.state) ? sandbox : undefined)),
    async ready(body) {
      const id = await under.create(body);
      await under.reach(id, 'ready');
      return id;
    },
    prompt: (id, text, more = {}) => call('POST', `/sandboxes/${id}/prompt`, { body: { prompt: text, ...more } }),
    promptEnd: (id, promptId) =>
      waitFor(`/sandboxes/${id}/prompts/${promptId}`, ({ prompt }) => (prompt?.endedAt ? prompt : undefined)),
    async archive(id) {
      await call('POST', `/sandboxes/${id}/stop`);
      return under.reach(id, 'archived');
    },
    arm: (fault) => call('POST', '/faults', { body: fault, admin: true }),
  };
  return under;
}

/** A client whose every call carries the activity and workflow that makes it, so that a proxy can distinguish jobs. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { Context } from '@temporalio/activity';
import { Pool } from 'undici';
import { createSandboxClient, type SandboxClient, type SandboxClientOptions } from '../../../src/client/index.js';

export interface Tag {
  readonly workflowId: string;
  readonly taskQueue: string;
  readonly activity: string;
  /** The file and line of the activity that makes the call: `activities/prompt/send.ts:104`. Empty if unknown. */
  readonly place: string;
  /** The process of the worker. */
  readonly pid: number;
}

export const tagHeader = 'x-sandflow-test-call';

/** The maximum time of a call, in ms, whatever the activity allows: the cost of a hung call in a run. */
const timeoutMs = 4_000;

export interface TaggedClientOptions extends Omit<Partial<SandboxClientOptions>, 'dispatcher'> {
  /**
   * Maximum time of a call that cannot be repeated, in ms. It has more time than the others, so that a busy machine alone
   * loses no answer. Default: 8 000.
   */
  readonly onceTimeoutMs?: number;
}

export function createTaggedClient(
  baseUrl: string,
  apiKey: string,
  { onceTimeoutMs = 8_000, ...options }: TaggedClientOptions = {},
): SandboxClient {
  const { origin } = new URL(baseUrl);
  const dispatcher = new Pool(origin, { connections: 256, pipelining: 1 }).compose(
    (dispatch) => (options, handler) => dispatch({ ...options, headers: tagged(options.headers) }, handler),
  );
  const client = createSandboxClient({ baseUrl, apiKey, timeoutMs, ...options, dispatcher });
  const short = { timeoutMs: onceTimeoutMs };
  return placed({
    ...client,
    sendPrompt: (id, body, options) => client.sendPrompt(id, body, { ...options, ...short }),
    runCommand: (id, body, options) => client.runCommand(id, body, { ...options, ...short }),
  });
}

const places = new AsyncLocalStorage<string>();

/** Remembers where each call is made, until its request is sent. */
function placed(client: SandboxClient): SandboxClient {
  return new Proxy(client, {
    get: (own, name: keyof SandboxClient) => {
      const method = own[name] as ((...args: unknown[]) => unknown) | undefined;
      return method && ((...args: unknown[]) => places.run(placeOf(new Error().stack ?? ''), () => method(...args)));
    },
  });
}

/** The innermost line of an activity. */
function placeOf(stack: string): string {
  return /\bactivities\/[\w/-]+\.ts:\d+/.exec(stack)?.[0] ?? '';
}

function tagged(headers: unknown): Record<string, string> {
  const tag = tagOfNow();
  return { ...(headers as Record<string, string>), ...(tag && { [tagHeader]: JSON.stringify(tag) }) };
}

/** A read that several follows share has the tag of the one that started the loop. */
function tagOfNow(): Tag | undefined {
  try {
    const { workflowExecution, activityType, taskQueue } = Context.current().info;
    const place = places.getStore() ?? '';
    return {
      workflowId: workflowExecution?.workflowId ?? '',
      taskQueue,
      activity: activityType,
      place,
      pid: process.pid,
    };
  } catch {
    return undefined;
  }
}

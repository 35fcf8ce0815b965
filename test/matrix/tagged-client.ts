/** A client whose every call carries the activity and workflow that makes it, so that a proxy can distinguish jobs. */
import { Context } from '@temporalio/activity';
import { Pool } from 'undici';
import { createSandboxClient, type SandboxClient } from '../../src/client/index.js';

export interface Tag {
  readonly workflowId: string;
  readonly taskQueue: string;
  readonly activity: string;
}

export const tagHeader = 'x-sandflow-test-call';

/** The maximum time of a call, in ms, whatever the activity allows: the cost of a hung call in a run. */
const timeoutMs = 4_000;
/** Calls that cannot be repeated have more time, so that a busy machine alone loses no answer. */
const onceTimeoutMs = 8_000;

export function createTaggedClient(baseUrl: string, apiKey: string): SandboxClient {
  const { origin } = new URL(baseUrl);
  const dispatcher = new Pool(origin, { connections: 256, pipelining: 1 }).compose(
    (dispatch) => (options, handler) => dispatch({ ...options, headers: tagged(options.headers) }, handler),
  );
  const client = createSandboxClient({ baseUrl, apiKey, timeoutMs, dispatcher });
  const short = { timeoutMs: onceTimeoutMs };
  return {
    ...client,
    sendPrompt: (id, body, options) => client.sendPrompt(id, body, { ...options, ...short }),
    runCommand: (id, body, options) => client.runCommand(id, body, { ...options, ...short }),
  };
}

function tagged(headers: unknown): Record<string, string> {
  const tag = tagOfNow();
  return { ...(headers as Record<string, string>), ...(tag && { [tagHeader]: JSON.stringify(tag) }) };
}

/** A read that several follows share has the tag of the one that started the loop. */
function tagOfNow(): Tag | undefined {
  try {
    const { workflowExecution, activityType, taskQueue } = Context.current().info;
    return { workflowId: workflowExecution?.workflowId ?? '', taskQueue, activity: activityType };
  } catch {
    return undefined;
  }
}

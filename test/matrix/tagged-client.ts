/** A client whose every call says which activity of which workflow makes it, so that a proxy can tell jobs apart. */
import { Context } from '@temporalio/activity';
import { Pool } from 'undici';
import { createSandboxClient, type SandboxClient } from '../../src/client/index.js';

export interface Tag {
  readonly workflowId: string;
  readonly taskQueue: string;
  readonly activity: string;
}

export const tagHeader = 'x-sandflow-test-call';

/** No call waits longer than this for its answer, in ms, whatever the activity would allow: a hung one costs a run so much. */
const timeoutMs = 4_000;
/** What cannot be asked again has more time, so that a busy machine alone loses no answer. */
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

/** A read that several follows share has the tag of the one that began the loop. */
function tagOfNow(): Tag | undefined {
  try {
    const { workflowExecution, activityType, taskQueue } = Context.current().info;
    return { workflowId: workflowExecution?.workflowId ?? '', taskQueue, activity: activityType };
  } catch {
    return undefined;
  }
}

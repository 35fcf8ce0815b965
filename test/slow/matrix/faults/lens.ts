/** Variations of a service that the specification leaves open. */
import { type Answer, type Lens, readJson } from './fault-proxy.js';

const json = (status: number, value: unknown): Answer => ({
  status,
  type: 'application/json',
  body: Buffer.from(JSON.stringify(value)),
});

function withoutPromptId<Part>(part: Part): Part {
  const { promptId: _, ...rest } = part as Part & { readonly promptId?: unknown };
  return rest as Part;
}

/** A service without prompt ids, in answers and in the history, and without records of prompts. */
export const noPromptIds: Lens = ({ endpoint }, answer) => {
  const read = readJson(answer.body) as { readonly events?: readonly object[] } | undefined;
  if (endpoint === 'getPrompt') return missing;
  if (answer.status >= 400 || read === undefined) return answer;
  if (endpoint === 'sendPrompt') return json(answer.status, withoutPromptId(read));
  if (endpoint === 'listEvents') return json(answer.status, { ...read, events: read.events?.map(withoutPromptId) });
  return answer;
};

const code = 'not_found';
const message = 'There is no such route';
const missing = json(404, {
  ok: false,
  type: 'sandbox.error',
  status: 404,
  code,
  message,
  error: { code, message, status: 404 },
  requestId: `req_${'0'.repeat(24)}`,
});

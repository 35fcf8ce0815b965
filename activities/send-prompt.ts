/** Retry class `evidence`: prompt. The service has no idempotency key for it (trap S3); see `evidence.ts`. */
import type { SandboxClient } from '../src/client/index.js';
import type { PromptBody } from '../src/contract/requests.js';
import type { Counted } from '../src/contract/service-failure.js';
import type { Text } from '../src/contract/texts.js';
import type { ResultStore } from '../src/result-store/index.js';
import { createAttempt } from './calls.js';
import { sendOnce } from './evidence.js';
import { findPromptEvidence, type PromptEvidence, type PromptEvidenceQuery } from './prompt-evidence.js';
import { readText } from './texts.js';

export interface SendPromptInput {
  readonly sandboxId: string;
  readonly body: Omit<PromptBody, 'prompt'> & { readonly prompt: Text };
  /** True after a reset, when the prompt may have been sent by a run that this one does not remember. */
  readonly lookFirst: boolean;
  /** How to recognise the prompt in the history of the sandbox, should the answer be lost. Its text is in the body. */
  readonly evidence: Omit<PromptEvidenceQuery, 'prompt'>;
}

/**
 * Queues a prompt. Sent at most once.
 *
 * @throws ApplicationFailure `outcome_unknown` when nobody can know whether the prompt was accepted; `result_not_found` where
 *   the prompt is kept in a store that is not this worker's
 */
export function sendPromptActivity(client: SandboxClient, results: ResultStore) {
  return async function sendPrompt(input: SendPromptInput): Promise<Counted<PromptEvidence>> {
    const { sandboxId, body, lookFirst, evidence } = input;
    const prompt = await readText(results, body.prompt);
    const attempt = createAttempt();
    const value = await sendOnce<PromptEvidence, undefined>({
      endpoint: 'sendPrompt',
      attempt,
      what: 'the prompt',
      where: `the history of ${sandboxId}`,
      lookFirst,
      before: async () => undefined,
      async send(timeoutMs) {
        const { promptId, conversationId } = await client.sendPrompt(sandboxId, { ...body, prompt }, { timeoutMs });
        return { promptId: promptId ?? null, conversationId };
      },
      look: () => findPromptEvidence(client, { ...evidence, prompt: body.prompt }, attempt),
    });
    return { value, calls: attempt.calls() };
  };
}

/** Retry class `evidence`: prompt. The service has no idempotency key for it (trap S3); see `evidence.ts`. */
import type { SandboxClient } from '../src/client/index.js';
import type { PromptBody } from '../src/contract/requests.js';
import type { Counted } from '../src/contract/service-failure.js';
import { createAttempt } from './calls.js';
import { sendOnce } from './evidence.js';
import { findPromptEvidence, type PromptEvidence, type PromptEvidenceQuery } from './prompt-evidence.js';

export interface SendPromptInput {
  readonly sandboxId: string;
  readonly body: PromptBody;
  /** True after a reset, when the prompt may have been sent by a run that this one does not remember. */
  readonly lookFirst: boolean;
  /** How to recognise the prompt in the history of the sandbox, should the answer be lost. */
  readonly evidence: PromptEvidenceQuery;
}

/**
 * Queues a prompt. Sent at most once.
 *
 * @throws ApplicationFailure `outcome_unknown` when nobody can know whether the prompt was accepted
 */
export function sendPromptActivity(client: SandboxClient) {
  return async function sendPrompt(input: SendPromptInput): Promise<Counted<PromptEvidence>> {
    const { sandboxId, body, lookFirst, evidence } = input;
    const attempt = createAttempt();
    const value = await sendOnce<PromptEvidence, undefined>({
      endpoint: 'sendPrompt',
      attempt,
      what: 'the prompt',
      where: `the history of ${sandboxId}`,
      lookFirst,
      before: async () => undefined,
      async send(timeoutMs) {
        const { promptId, conversationId } = await client.sendPrompt(sandboxId, body, { timeoutMs });
        return { promptId: promptId ?? null, conversationId };
      },
      look: () => findPromptEvidence(client, evidence, attempt),
    });
    return { value, calls: attempt.calls() };
  };
}

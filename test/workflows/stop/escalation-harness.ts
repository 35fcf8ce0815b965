/** Stops that go on failing, with an escalation. */
import { type Escalation, parseEscalation } from '../../../src/protocol/escalation.js';
import type { Intercept } from '../intercept.js';
import type { Stand } from '../workflow-harness.js';
import { ask, heal, readySandbox } from './stop-harness.js';

export const steps = (text: string): Escalation => parseEscalation(text, { mayDelete: true });

export const failing = (stand: Stand) => stand.fault({ kind: 'stop_fails', times: 100_000 });

/** Requests the stop of a sandbox that the service fails to archive. */
export async function failingStop(stand: Stand, escalate: Escalation, over: { readonly maxMessages?: number } = {}) {
  const sandboxId = await readySandbox(stand);
  await failing(stand);
  return { sandboxId, requested: await ask(stand, { sandboxId, escalate, ...over }) };
}

/** The service archives again once it has got the resume. */
export function healAtResume(stand: Stand, intercept: Intercept): void {
  intercept.on('resumeSandbox', async (call) => {
    const answer = await call();
    await heal(stand);
    return answer;
  });
}

export const callsOf = (stand: Stand, sandboxId: string, endpoint: string) =>
  stand.service.books.calls({ sandboxId }).filter((call) => call.endpoint === endpoint);

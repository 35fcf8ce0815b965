/**
 * Sends a bridge a signed delivery of a type that no bridge knows. A bridge that has the secret acknowledges it and
 * signals nobody. So the answer shows that a URL leads to a bridge, and that this bridge has the secret.
 */
import { randomBytes } from 'node:crypto';
import { refusalNamed } from '../../bridge/refused-deliveries.js';
import { deliveryHeadersFor } from '../../webhook/index.js';
import { answerText } from '../connect/answer-text.js';
import { failureOf } from '../errors.js';
import { oneLine } from '../output/terminal-safe.js';

const timeoutMs = 10_000;
const type = 'sandflow.connection_test';
/** The answer of the bridge to a verified delivery of an unknown type. */
const verified = 'unknown_type';
/** The answer of the bridge to a delivery without a signature. */
const unsigned = 'missing_headers';
/** The answer of a bridge that has no secret. */
const noSecret = 'no_secret';
const longestText = 200;

export interface TestDelivery {
  /** `refused`: a bridge answered and has another secret, or none. `no_bridge`: no bridge answered. */
  readonly result: 'accepted' | 'refused' | 'no_bridge';
  /** The result as the end of a sentence. */
  readonly text: string;
  /** What helps, if it is not another secret or another address. */
  readonly mend?: string;
}

/** Never throws. Follows no redirect. */
export async function sendTestDelivery(url: string, secret: string): Promise<TestDelivery> {
  const id = `evt_${randomBytes(16).toString('hex')}`;
  const rawBody = JSON.stringify({ id, type, createdAt: new Date().toISOString(), data: {} });
  const timestamp = Math.floor(Date.now() / 1_000);
  const headers = deliveryHeadersFor({ event: type, deliveryId: id, timestamp, rawBody, secret });
  try {
    const signal = AbortSignal.timeout(timeoutMs);
    const response = await fetch(url, { method: 'POST', redirect: 'manual', headers, body: rawBody, signal });
    const answer = oneLine((await answerText(response)).slice(0, longestText)).trim();
    if (response.ok && answer === verified)
      return { result: 'accepted', text: 'the bridge accepted a signed test delivery' };
    const said = `${response.status} ${answer}`.trim();
    if (response.status === 401) return { result: 'refused', ...refusedAs(answer, said) };
    if (response.status === 503 && answer === noSecret) {
      return { result: 'refused', text: `the bridge there has no secret yet (${said})` };
    }
    return { result: 'no_bridge', text: `no bridge answers there, but: ${said}` };
  } catch (error) {
    return { result: 'no_bridge', text: `no answer: ${oneLine(failureOf(error).error.message)}` };
  }
}

function refusedAs(answer: string, said: string): Pick<TestDelivery, 'text' | 'mend'> {
  const refusal = refusalNamed(answer);
  // The mend of `refusalNamed` for a secret is that of the service. Here it is that of this machine.
  if (!refusal || answer === 'bad_signature') return { text: `the bridge there has another secret (${said})` };
  return { text: `the bridge there refuses it: ${refusal.why} (${said})`, mend: refusal.mend };
}

/**
 * Sends a delivery without a signature, which a bridge refuses in its own words and does not count as one of another
 * secret. Never throws. Follows no redirect.
 */
export async function isBridgeAt(url: string): Promise<{ readonly isBridge: boolean; readonly text: string }> {
  try {
    const signal = AbortSignal.timeout(timeoutMs);
    const response = await fetch(url, { method: 'POST', redirect: 'manual', body: '{}', signal });
    const answer = oneLine((await answerText(response)).slice(0, longestText)).trim();
    const isBridge = [unsigned, noSecret].includes(answer);
    return { isBridge, text: `it answers ${`${response.status} ${answer}`.trim()}` };
  } catch (error) {
    return { isBridge: false, text: `no answer: ${oneLine(failureOf(error).error.message)}` };
  }
}

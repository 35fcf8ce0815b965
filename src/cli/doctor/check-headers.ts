/**
 * Looks at the headers of any answer of the service. Its clock must agree with this one, or deliveries are refused. A
 * `Sunset` header tells of the legacy surface.
 */
import { type Check, failed, ok, skipped, warning } from './check.js';

/** Deliveries that are further in the past or the future are refused (specification, section "Signature"). */
const windowSeconds = 300;
const worrySeconds = 30;
const timeoutMs = 10_000;

/** Needs no key: any response has the headers. */
export async function checkHeaders(apiUrl: string): Promise<Check[]> {
  const before = Date.now();
  let headers: Headers;
  try {
    const response = await fetch(`${apiUrl}/me`, { redirect: 'manual', signal: AbortSignal.timeout(timeoutMs) });
    await response.body?.cancel();
    ({ headers } = response);
  } catch {
    return [skipped('clock', 'The service does not answer.')];
  }
  const clock = judgeClock(headers.get('date'), (before + Date.now()) / 2);
  const sunset = headers.get('sunset');
  return sunset === null ? [clock] : [clock, legacy(apiUrl, sunset)];
}

function legacy(apiUrl: string, sunset: string): Check {
  const message = `${apiUrl} announces its end (Sunset: ${sunset}), as the legacy address of the service does. sandflow cannot read the answers of that address.`;
  return warning('service', message, 'Set SANDBOX_API_URL to the current base URL, which ends in /v1.');
}

/** @param localMs time of this clock in the middle of the call, in ms */
export function judgeClock(dateHeader: string | null, localMs: number): Check {
  const serviceMs = dateHeader === null ? Number.NaN : Date.parse(dateHeader);
  if (Number.isNaN(serviceMs)) return skipped('clock', 'The service sends no Date header.');
  // The header has whole seconds. Adding half a second to its time minimizes the error.
  const skewSeconds = Math.round((localMs - serviceMs - 500) / 1_000);
  const skew = Math.abs(skewSeconds);
  const text = `This clock is ${skew} s ${skewSeconds < 0 ? 'behind' : 'ahead of'} the service's`;
  const mend = 'Synchronise the clock of this machine (NTP), and of the machine that runs the bridge.';
  if (skew >= windowSeconds)
    return failed('clock', `${text}; webhooks are refused at ${windowSeconds} s or more.`, mend);
  if (skew >= worrySeconds)
    return warning('clock', `${text}; webhooks are refused at ${windowSeconds} s or more.`, mend);
  return ok('clock', skew === 0 ? 'This clock agrees with the service.' : `${text}.`);
}

/** Desktops of sandboxes, where this machine has the packages for them. */
import { findDesktop } from '../../src/machine/desktop/find-desktop.js';
import { defaultProgramPath } from '../../src/machine/program.js';
import { usableIsolations } from './machine/machine-fixture.js';

const { missing } = await findDesktop({ programPath: defaultProgramPath, hasOwnNetwork: true });

/** What this machine lacks for a desktop. */
export const lacks = [...missing, ...(usableIsolations.includes('bubblewrap') ? [] : ['bubblewrap'])];

/** Headers of a WebSocket. */
export const webSocket = { 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==', 'sec-websocket-version': '13' };

interface Caller {
  call(
    method: string,
    path: string,
    options: { readonly body?: object | undefined },
  ): Promise<{ readonly status: number; readonly text: string; readonly body: unknown }>;
}

export async function openDesktop(under: Caller, id: string, query = '', body?: object): Promise<URL> {
  const answer = await under.call('POST', `/sandboxes/${id}/desktop${query}`, { body });
  if (answer.status !== 200) throw new Error(answer.text);
  return new URL((answer.body as { readonly url: string }).url);
}

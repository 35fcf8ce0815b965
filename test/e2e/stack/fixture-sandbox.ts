/** Sandboxes that exist before a job: those of a person. */
import { expect, vi } from 'vitest';
import { createSandboxClient, type SandboxClient } from '../../../src/client/index.js';
import { patient } from './fixture.js';
import type { LocalService } from './fixture-parts.js';

/** Closes the client after use. */
export async function withClient<T>(
  { url, apiKey }: LocalService,
  use: (api: SandboxClient) => Promise<T>,
): Promise<T> {
  const api = createSandboxClient({ baseUrl: url, apiKey });
  try {
    return await use(api);
  } finally {
    await api.close();
  }
}

export async function untilState(api: SandboxClient, sandboxId: string, state: string): Promise<void> {
  const see = async () => expect((await api.getSandbox(sandboxId)).sandbox.state).toBe(state);
  await vi.waitFor(see, patient);
}

/** @returns the id of a sandbox that is ready */
export async function readySandbox(api: SandboxClient): Promise<string> {
  const { sandbox } = await api.createSandbox({ name: 'by hand' });
  await untilState(api, sandbox.id, 'ready');
  return sandbox.id;
}

/** @returns the id of an archived sandbox with a file in it */
export function archivedSandbox(
  service: LocalService,
  file: { readonly path: string; readonly content: string },
): Promise<string> {
  return withClient(service, async (api) => {
    const id = await readySandbox(api);
    await api.writeFile(id, { ...file, encoding: 'utf8' });
    await api.stopSandbox(id);
    await untilState(api, id, 'archived');
    return id;
  });
}

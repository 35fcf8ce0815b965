import { describe, expect, it, onTestFinished } from 'vitest';
import { createLocalService } from '../../../../local-service/src/index.js';
import { checkActions } from '../../../../src/cli/doctor/check-actions.js';
import { workerActions } from '../../../../src/cli/doctor/needed-actions.js';
import { createSandboxClient } from '../../../../src/client/index.js';
import type { ScopeAction } from '../../../../src/contract/endpoints/endpoint.js';
import { startStand } from '../../client/http-harness.js';
import { temporaryDirectory } from '../temporary-directory.js';

const listed = Object.keys(workerActions) as ScopeAction[];

async function local() {
  const directory = await temporaryDirectory();
  const service = await createLocalService({ directory, apiKey: 'all', isolation: 'plain', log: () => undefined });
  const { url } = await service.listen();
  const as = (apiKey: string) => createSandboxClient({ baseUrl: url, apiKey });
  const owner = as('all');
  onTestFinished(async () => {
    await owner.close();
    await service.close();
  });
  const checkOf = async (apiKey: string) => {
    const client = as(apiKey);
    return checkActions(client, client).finally(() => client.close());
  };
  const checkWith = async (body: { readonly actions: readonly ScopeAction[]; readonly sandboxIds?: string[] }) => {
    const { actions, ...rest } = body;
    const { secret } = await owner.createApiKey({ name: 'checked', actions: [...actions], ...rest });
    return checkOf(secret);
  };
  return { owner, service, checkOf, checkWith };
}

describe('doctor', () => {
  it('names each action of a worker that the key lacks, what a worker without it does not do, and what to do', async () => {
    const { checkWith } = await local();
    for (const action of listed.filter((one) => one !== 'sandbox.create')) {
      const check = await checkWith({ actions: listed.filter((one) => one !== action) });
      expect(check, action).toMatchObject({
        status: 'warning',
        message: expect.stringContaining(
          `lacks ${action} (it ${workerActions[action as keyof typeof workerActions]}); `,
        ),
        mend: expect.stringContaining('docs/security.md'),
      });
    }
    const none = await checkWith({ actions: ['account.read'] });
    expect(listed.filter((action) => !none.message.includes(action))).toEqual([]);
  });

  it('says which action cannot be asked for, and changes nothing', async () => {
    const { checkWith, service, owner } = await local();
    await owner.createSandbox({ name: 'mine' });
    const before = service.books.sandboxes();
    const whole = await checkWith({ actions: listed });
    expect(whole).toMatchObject({ status: 'ok', message: expect.stringContaining('sandbox.create cannot be asked') });
    const writes = service.books.calls().filter(({ method, accepted }) => method !== 'GET' && accepted);
    expect(writes.map(({ endpoint }) => endpoint)).toEqual(['createSandbox', 'createApiKey']);
    expect(service.books.sandboxes().map(({ id, name }) => ({ id, name }))).toEqual(
      before.map(({ id, name }) => ({ id, name })),
    );
  });

  it('knows an unrestricted key by the list of keys, and asks no further', async () => {
    const { checkOf, service } = await local();
    expect(await checkOf('all')).toMatchObject({ status: 'ok', message: expect.stringContaining('not restricted') });
    expect(service.books.calls().map(({ endpoint }) => endpoint)).toEqual(['listApiKeys']);
  });

  it.each([
    [403, '{"ok":false,"code":"forbidden"}'],
    [403, '<html>'],
    [503, '{"ok":false,"code":"unavailable"}'],
  ])('says that it does not know the actions if the service answers %i %s', async (status, text) => {
    const stand = await startStand((_, response) => response.writeHead(status).end(text));
    const client = createSandboxClient({ baseUrl: stand.url, apiKey: 'k' });
    onTestFinished(async () => {
      await client.close();
      await stand.close();
    });
    const check = await checkActions(client, client);
    expect(check).toMatchObject({ status: 'skipped', message: expect.stringContaining('does not say') });
  });
});

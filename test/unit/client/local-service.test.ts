import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { apiKey, emptyDirectory, startService } from '../../../local-service/test/service/service-under-test.js';
import { createSandboxClient, type SandboxClient } from '../../../src/client/index.js';

async function clientOfService(): Promise<SandboxClient> {
  const { service } = await startService();
  const client = createSandboxClient({ baseUrl: service.url, apiKey });
  onTestFinished(() => client.close());
  return client;
}

async function readySandbox(client: SandboxClient, name: string): Promise<string> {
  const { sandbox } = await client.createSandbox({ name });
  await expect.poll(async () => (await client.getSandbox(sandbox.id)).sandbox.state).toBe('ready');
  return sandbox.id;
}

describe('the client and the local service', () => {
  it('write files and folders of a sandbox and of its snapshot to disk', async () => {
    const client = await clientOfService();
    const directory = await emptyDirectory();
    const to = (name: string) => join(directory, name);
    const id = await readySandbox(client, 'downloads');
    await client.runCommand(id, { command: 'mkdir out && echo hello > out/a && head -c 5000000 /dev/zero > large' });

    expect(await client.downloadArtifact(id, 'large', { to: to('large') })).toMatchObject({ sizeBytes: 5_000_000 });
    await client.downloadArtifact(id, 'out', { to: to('out.tgz') });
    expect(execFileSync('tar', ['-tzf', to('out.tgz')], { encoding: 'utf8' })).toMatch(/\ba$/m);
    await expect(client.downloadArtifact(id, 'none', { to: to('none') })).rejects.toMatchObject({ status: 404 });

    await client.stopSandbox(id);
    await expect.poll(async () => (await client.getSandbox(id)).sandbox.state).toBe('archived');
    const { snapshot } = await client.getLatestSnapshot(id);
    const { entries } = await client.getSnapshotTree(snapshot.id, { path: 'out' });
    expect(entries.map(({ path }) => path)).toEqual(expect.arrayContaining([expect.stringMatching(/a$/)]));
    await client.downloadSnapshotFile(snapshot.id, 'out/a', { to: to('a') });
    expect(await readFile(to('a'), 'utf8')).toBe('hello\n');
    await client.downloadSnapshot(snapshot.id, { to: to('all.tgz') });
    expect(execFileSync('tar', ['-tzf', to('all.tgz')], { encoding: 'utf8' })).toMatch(/out\/a$/m);
    expect((await client.deleteSnapshot(snapshot.id)).operationId).toMatch(/^del_/);
  });

  it('create one fork per key', async () => {
    const client = await clientOfService();
    const id = await readySandbox(client, 'source');
    const fork = () => client.forkSandbox(id, { name: 'copy' }, { idempotencyKey: 'fork-1' });
    const first = await fork();
    await expect.poll(async () => (await fork().catch(() => null))?.sandbox.id).toBe(first.sandbox.id);
    const names = (await client.listAllSandboxes()).map(({ name }) => name);
    expect(names.sort()).toEqual(['copy', 'source']);
  });
});

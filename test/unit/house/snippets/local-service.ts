import { createLocalService } from '../../../../local-service/src/index.js';
import { createSandboxClient } from '../../../../src/client/index.js';

/** Creates a sandbox in a local Sandbox Service and writes a file into it, as your test might. */
export async function tryOut(directory: string): Promise<string> {
  const service = await createLocalService({ directory, apiKey: 'local-key', timings: { bootMs: 1 } });
  const { url } = await service.listen();
  const client = createSandboxClient({ baseUrl: url, apiKey: 'local-key' });
  try {
    const { sandbox } = await client.createSandbox({ name: 'try-out' });
    for (let { state } = sandbox; state !== 'ready'; ) ({ state } = (await client.getSandbox(sandbox.id)).sandbox);
    await client.writeFile(sandbox.id, { path: 'hello.txt', content: 'hello' });
    return (await client.readFile(sandbox.id, 'hello.txt')).content;
  } finally {
    await client.close();
    await service.close();
  }
}

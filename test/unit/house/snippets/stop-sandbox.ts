import { awaitStop, connectTemporal, findTemporal, readConfig, requestStop } from '../../../../src/index.js';

/** True if the sandbox is archived and its work saved. Repeating a request id does not repeat the request. */
export async function stopForGood(sandboxId: string, requestId: string): Promise<boolean> {
  const config = readConfig();
  const { taskQueue } = config;
  const client = await connectTemporal(await findTemporal(config));
  try {
    const request = { sandboxId, requestId, deadlineMs: 3_600_000, alertAfterMs: 600_000 };
    const { outcome, kept } = await awaitStop(client, await requestStop(client, request, { taskQueue }));
    return (outcome === 'archived' || outcome === 'already_archived') && kept === 'saved';
  } finally {
    await client.connection.close();
  }
}

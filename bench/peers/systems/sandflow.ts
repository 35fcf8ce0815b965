/** sandflow: its worker and its bridge. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client } from '@temporalio/client';
import { jobWorkflowId } from '../../../src/addresses/addresses.js';
import { ensureWebhook, webhookPath } from '../../../src/bridge/index.js';
import { createSandboxClient } from '../../../src/client/index.js';
import { createEncryptedDataConverter, newKeyLine, readKeyRing } from '../../../src/encryption/index.js';
import { freePort } from '../../../src/os/free-port.js';
import { awaitFanout, submitFanout } from '../../../src/workflow-client/fanouts/submit-fanout.js';
import { startJob } from '../../../src/workflow-client/jobs/job-client.js';
import { deployment, jobInput } from '../../measure/plain-job.js';
import { batchAtOnce, createClosing, type Peer, type Place, type RunningPeer } from '../peer.js';
import { startChildren } from './children.js';
import { type Engine, eventsSince, historiesOf, startEngine } from './temporal-engine.js';

const taskQueue = 'sandflow';
const prompts = [{ prompt: 'Work.' }];
/** More than the machine can do, so that the rate does not limit what is measured. */
const forksPerSecond = 1_000;

async function start(place: Place, { isEncrypted }: { readonly isEncrypted: boolean }): Promise<RunningPeer> {
  const { serviceUrl, apiKey, directory } = place;
  const closing = createClosing();
  try {
    const keysFile = isEncrypted ? join(directory, 'keys') : undefined;
    if (keysFile !== undefined) await writeFile(keysFile, `${newKeyLine('bench')}\n`, { mode: 0o600 });
    const dataConverter =
      keysFile === undefined ? undefined : createEncryptedDataConverter(await readKeyRing(keysFile));
    const engine = await startEngine(place, { dataConverter });
    closing.add(engine.close);
    const temporalAddress = engine.address;
    const port = await freePort();
    const secretFile = join(directory, 'secrets');
    const api = createSandboxClient({ baseUrl: serviceUrl, apiKey: 'bench-setup' });
    await ensureWebhook(api, { url: `http://127.0.0.1:${port}${webhookPath}`, name: 'bench', secretFile });
    await api.close();
    const children = await startChildren(directory, [
      program('worker', {
        temporalAddress,
        serviceUrl,
        apiKey,
        taskQueue,
        bundlePath: place.workshop.bundlePaths[isEncrypted ? 'encrypted' : 'sandflow'],
        resultsDirectory: join(directory, 'results'),
        forksPerSecond,
        keysFile,
      }),
      program('bridge', { temporalAddress, port, secretFile, keysFile }),
    ]);
    closing.add(children.close);
    return {
      runJob: (jobId) => runJob(engine, jobId),
      runBatch: (items, sourceId) => runBatch(engine.client, items, sourceId),
      enginePid: engine.pid,
      app: children.all,
      restartApp: children.restart,
      restartEngine: engine.restart,
      histories: (jobs) => {
        const ids = jobs.map((job) => jobWorkflowId(deployment, job));
        return historiesOf(engine.client, ids);
      },
      eventsSince: (moment) => eventsSince(engine.client, moment),
      close: closing.close,
    };
  } catch (error) {
    await closing.close();
    throw error;
  }
}

function program(name: string, settings: object) {
  return { entry: new URL(`../../processes/${name}.js`, import.meta.url), name, settings };
}

async function runJob(engine: Engine, jobId: string): Promise<void> {
  const { handle } = await startJob(engine.client, jobInput({ jobId, prompts }), { taskQueue });
  const { outcome, error } = await engine.persistently(() => handle.result());
  if (outcome !== 'completed') throw new Error(`A job ended as ${outcome}: ${error?.message}`);
}

async function runBatch(client: Client, count: number, sandboxId: string): Promise<void> {
  const source = { kind: 'sandbox', sandboxId, allowStale: false } as const;
  const input = { deployment, batchId: 'batch', source, policy: { concurrency: batchAtOnce } };
  const items = Array.from({ length: count }, (_, index) => ({ id: `item-${index}`, prompts }));
  await submitFanout(client, input, items, { taskQueue });
  const { outcome, error } = await awaitFanout(client, input);
  if (outcome !== 'completed') throw new Error(`A batch ended as ${outcome}: ${error?.message}`);
}

export const sandflow: Peer = { name: 'sandflow', start: (place) => start(place, { isEncrypted: false }) };
export const sandflowEncrypted: Peer = {
  name: 'sandflow-encrypted',
  start: (place) => start(place, { isEncrypted: true }),
};

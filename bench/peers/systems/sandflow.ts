/** sandflow: its worker and its bridge. */
import { join } from 'node:path';
import { ensureWebhook, webhookPath } from '../../../src/bridge/index.js';
import { createSandboxClient } from '../../../src/client/index.js';
import { jobWorkflowId } from '../../../src/contract/workflow-safe/addresses.js';
import { freePort } from '../../../src/os/free-port.js';
import { startJob } from '../../../src/workflow-client/jobs/job-client.js';
import { deployment, jobInput } from '../../measure/plain-job.js';
import { startChild } from '../../processes/child.js';
import { createClosing, type Peer, type Place, type RunningPeer } from '../peer.js';
import { historyOf, startEngine } from './temporal-engine.js';

const taskQueue = 'sandflow';
/** More than the machine can do, so that the rate does not limit what is measured. */
const forksPerSecond = 1_000;

async function start(place: Place): Promise<RunningPeer> {
  const { serviceUrl, apiKey, directory } = place;
  const closing = createClosing();
  try {
    const engine = await startEngine(place);
    closing.add(engine.close);
    const child = async (name: string, settings: object) => {
      const entry = new URL(`../../processes/${name}.js`, import.meta.url);
      const started = await startChild(entry, { settings, logFile: join(directory, `${name}.log`) });
      closing.add(started.stop);
      return started;
    };
    const temporalAddress = engine.address;
    const port = await freePort();
    const secretFile = join(directory, 'secrets');
    const api = createSandboxClient({ baseUrl: serviceUrl, apiKey: 'bench-setup' });
    await ensureWebhook(api, { url: `http://127.0.0.1:${port}${webhookPath}`, name: 'bench', secretFile });
    await api.close();
    const worker = await child('worker', {
      temporalAddress,
      serviceUrl,
      apiKey,
      taskQueue,
      bundlePath: place.workshop.bundlePaths.sandflow,
      resultsDirectory: join(directory, 'results'),
      forksPerSecond,
    });
    const bridge = await child('bridge', { temporalAddress, port, secretFile });
    return {
      async runJob(jobId) {
        const input = jobInput({ jobId, prompts: [{ prompt: 'Work.' }] });
        const { handle } = await startJob(engine.client, input, { taskQueue });
        const { outcome, error } = await handle.result();
        if (outcome !== 'completed') throw new Error(`A job ended as ${outcome}: ${error?.message}`);
      },
      enginePid: engine.pid,
      app: () => [worker, bridge],
      historySize: (jobs) => {
        const ids = jobs.map((job) => jobWorkflowId(deployment, job));
        return historyOf(engine.client, ids);
      },
      close: closing.close,
    };
  } catch (error) {
    await closing.close();
    throw error;
  }
}

export const sandflow: Peer = { name: 'sandflow', start };

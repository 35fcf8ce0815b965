/** Plain Temporal, as its experienced users write it: with signals from webhooks, or with activities that poll. */
import { join } from 'node:path';
import { freePort } from '../../../src/os/free-port.js';
import { startChild } from '../../processes/child.js';
import { createClosing, type Peer, type Place, type RunningPeer } from '../peer.js';
import { createPlainApi } from '../plain/api.js';
import type { pollingJob, signalledJob } from '../plain/workflow.js';
import { historyOf, startEngine } from './temporal-engine.js';

const taskQueue = 'plain';

async function start(place: Place, workflow: 'signalledJob' | 'pollingJob'): Promise<RunningPeer> {
  const { serviceUrl, apiKey, directory } = place;
  const closing = createClosing();
  try {
    const engine = await startEngine(place);
    closing.add(engine.close);
    const child = async (name: string, settings: object) => {
      const entry = new URL(`../processes/${name}.js`, import.meta.url);
      const started = await startChild(entry, { settings, logFile: join(directory, `${name}.log`) });
      closing.add(started.stop);
      return started;
    };
    const temporalAddress = engine.address;
    const bundlePath = place.workshop.bundlePaths.plain;
    const app = [await child('plain-worker', { temporalAddress, serviceUrl, apiKey, taskQueue, bundlePath })];
    if (workflow === 'signalledJob') {
      const port = await freePort();
      const secret = await registerWebhook(serviceUrl, port);
      app.push(await child('webhook-receiver', { temporalAddress, port, secret }));
    }
    return {
      async runJob(name) {
        const args: [{ name: string; prompt: string }] = [{ name, prompt: 'Work.' }];
        await engine.client.workflow.execute<typeof signalledJob | typeof pollingJob>(workflow, {
          workflowId: name,
          taskQueue,
          args,
        });
      },
      enginePid: engine.pid,
      app: () => app,
      historySize: (jobs) => historyOf(engine.client, jobs),
      close: closing.close,
    };
  } catch (error) {
    await closing.close();
    throw error;
  }
}

async function registerWebhook(serviceUrl: string, port: number): Promise<string> {
  const api = createPlainApi({ serviceUrl, apiKey: 'bench-setup' });
  const { secret } = await api.registerWebhook(`http://127.0.0.1:${port}/`);
  await api.close();
  return secret;
}

export const temporalSignals: Peer = { name: 'signals', start: (place) => start(place, 'signalledJob') };
export const temporalPolling: Peer = { name: 'polling', start: (place) => start(place, 'pollingJob') };

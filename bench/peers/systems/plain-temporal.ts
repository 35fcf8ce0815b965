/** Plain Temporal, as its experienced users write it: with signals from webhooks, or with activities that poll. */
import { freePort } from '../../../src/os/free-port.js';
import { createClosing, type Peer, type Place, type RunningPeer } from '../peer.js';
import type { PlainJob, plainBatch, pollingJob, signalledJob } from '../plain/workflow.js';
import { startChildren } from './children.js';
import { registerWebhook } from './register-webhook.js';
import { type Engine, eventsSince, historiesOf, startEngine } from './temporal-engine.js';

const taskQueue = 'plain';
const prompt = 'Work.';

async function start(place: Place, workflow: PlainJob['workflow']): Promise<RunningPeer> {
  const { serviceUrl, apiKey, directory } = place;
  const closing = createClosing();
  try {
    const engine = await startEngine(place);
    closing.add(engine.close);
    const temporalAddress = engine.address;
    const bundlePath = place.workshop.bundlePaths.plain;
    const worker = program('plain-worker', { temporalAddress, serviceUrl, apiKey, taskQueue, bundlePath });
    const port = await freePort();
    const programs =
      workflow === 'pollingJob' ? [worker] : [worker, await receiver({ serviceUrl, temporalAddress, port })];
    const children = await startChildren(directory, programs);
    closing.add(children.close);
    return {
      runJob: (name) => runJob(engine, { workflow, name, prompt }),
      runBatch: (items, sourceId) => runBatch(engine, { workflow, prompt, sourceId, items }),
      enginePid: engine.pid,
      app: children.all,
      restartApp: children.restart,
      restartEngine: engine.restart,
      histories: (jobs) => historiesOf(engine.client, jobs),
      eventsSince: (moment) => eventsSince(engine.client, moment),
      close: closing.close,
    };
  } catch (error) {
    await closing.close();
    throw error;
  }
}

async function runJob(engine: Engine, job: PlainJob): Promise<void> {
  const options = { workflowId: job.name, taskQueue, args: [job] as [PlainJob] };
  const handle = await engine.client.workflow.start<typeof signalledJob | typeof pollingJob>(job.workflow, options);
  await engine.persistently(() => handle.result());
}

async function runBatch(engine: Engine, batch: Parameters<typeof plainBatch>[0]): Promise<void> {
  const options = { workflowId: 'batch', taskQueue, args: [batch] as [typeof batch] };
  const handle = await engine.client.workflow.start<typeof plainBatch>('plainBatch', options);
  await engine.persistently(() => handle.result());
}

function program(name: string, settings: object) {
  return { entry: new URL(`../processes/${name}.js`, import.meta.url), name, settings };
}

async function receiver(options: {
  readonly serviceUrl: string;
  readonly temporalAddress: string;
  readonly port: number;
}) {
  const { serviceUrl, temporalAddress, port } = options;
  return program('webhook-receiver', { temporalAddress, port, secret: await registerWebhook(serviceUrl, port) });
}

export const temporalSignals: Peer = { name: 'signals', start: (place) => start(place, 'signalledJob') };
export const temporalPolling: Peer = { name: 'polling', start: (place) => start(place, 'pollingJob') };

/** Scripts without an engine. After a restart, their users give them the jobs again that have not ended. */
import { freePort } from '../../../src/os/free-port.js';
import { inParallel } from '../../measure/plain-job.js';
import { batchAtOnce, type Peer, type Place, type RunningPeer } from '../peer.js';
import type { ScriptJob } from '../plain/script-jobs.js';
import type { ScriptSettings } from '../processes/script.js';
import { startChildren } from './children.js';
import { registerWebhook } from './register-webhook.js';

interface OpenJob {
  readonly job: ScriptJob;
  readonly end: (error: string | undefined) => void;
}

const prompt = 'Work.';

async function start({ directory, serviceUrl, apiKey }: Place, withWebhooks: boolean): Promise<RunningPeer> {
  const open = new Map<string, OpenJob>();
  let settings: ScriptSettings = { serviceUrl, apiKey };
  if (withWebhooks) {
    const port = await freePort();
    settings = { ...settings, webhook: { port, secret: await registerWebhook(serviceUrl, port) } };
  }
  const entry = new URL('../processes/script.js', import.meta.url);
  const children = await startChildren(directory, [
    {
      entry,
      name: 'script',
      settings,
      onMessage(message) {
        if (message.kind !== 'ended') return;
        open.get(message.job)?.end(message.error);
        open.delete(message.job);
      },
    },
  ]);
  let isRestarting = false;
  const give = (job: ScriptJob) => children.all()[0]?.send(job);
  function run(job: ScriptJob): Promise<void> {
    return new Promise((resolve, reject) => {
      open.set(job.name, { job, end: (error) => (error === undefined ? resolve() : reject(new Error(error))) });
      if (!isRestarting) give(job);
    });
  }
  return {
    runJob: (name) => run({ name, prompt }),
    runBatch: (items, sourceId) =>
      inParallel(items, batchAtOnce, (index) => run({ name: `item-${index}`, prompt, sourceId })),
    enginePid: () => undefined,
    app: children.all,
    async restartApp(signal) {
      isRestarting = true;
      await children.restart(signal);
      isRestarting = false;
      for (const { job } of open.values()) give(job);
    },
    close: children.close,
  };
}

export const pollingScript: Peer = { name: 'script-polls', start: (place) => start(place, false) };
export const webhookScript: Peer = { name: 'script-webhooks', start: (place) => start(place, true) };

/** A script that does jobs without an engine. It holds them in its memory only. */
import { setTimeout as sleep } from 'node:timers/promises';
import { serve, tell } from '../../processes/entry.js';
import { createPlainApi } from '../plain/api.js';
import { createPollingJob, createWebhookJob, type ScriptJob } from '../plain/script-jobs.js';
import { serveWebhooks } from '../plain/webhook-server.js';

export interface ScriptSettings {
  readonly serviceUrl: string;
  readonly apiKey: string;
  /** Where webhooks arrive. Default: the script polls. */
  readonly webhook?: { readonly port: number; readonly secret: string };
}

await serve<ScriptSettings>(async ({ serviceUrl, apiKey, webhook }) => {
  const api = createPlainApi({ serviceUrl, apiKey, attempts: 3 });
  const { runJob, onEvent } = webhook ? createWebhookJob(api) : createPollingJob(api);
  const server = webhook && (await serveWebhooks({ ...webhook, onEvent }));
  process.on('message', async (job: ScriptJob) => {
    try {
      await runJob(job);
      tell({ kind: 'ended', job: job.name });
    } catch (error) {
      tell({ kind: 'ended', job: job.name, error: String(error) });
    }
  });
  return {
    async close() {
      await Promise.race([server?.close(), sleep(1_000)]);
      // Jobs under way are lost with the process.
      setTimeout(() => process.exit(), 100).unref();
      await api.close();
    },
  };
});

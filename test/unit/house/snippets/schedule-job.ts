import {
  connectTemporal,
  createResultStore,
  findTemporal,
  putSchedule,
  readConfig,
  scheduledJob,
} from '../../../../src/index.js';

/** Runs a prompt at half past two on working days. Returns false if the schedule was there already, just like this. */
export async function everyNight(name: string, prompt: string): Promise<boolean> {
  const config = readConfig();
  const { deployment, taskQueue } = config;
  const client = await connectTemporal(await findTemporal(config));
  try {
    const results = createResultStore(config.results);
    const work = await scheduledJob(client, { deployment, prompts: [{ prompt }] }, { schedule: name, results });
    const times = { cron: '30 2 * * 1-5', zone: 'Europe/Vienna' };
    const put = await putSchedule(client, { deployment, name, taskQueue, work, times, ifExists: 'replace' });
    return put !== 'unchanged';
  } finally {
    await client.connection.close();
  }
}

/**
 * Remembers which webhook the secret file belongs to. A service never shows a secret again. So this is the only way to
 * know whether the stored secret belongs to an existing registration.
 */
import { join } from 'node:path';
import { z } from 'zod';
import type { Config } from '../config.js';
import { readJsonFile, writePrivateFile } from '../os/private-file.js';

const recordSchema = z.object({ apiUrl: z.string(), webhookId: z.string() });
export type ConnectionRecord = z.infer<typeof recordSchema>;

const fileOf = ({ home }: Pick<Config, 'home'>) => join(home, 'webhook.json');

export async function readConnection(config: Pick<Config, 'home'>): Promise<ConnectionRecord | undefined> {
  const parsed = recordSchema.safeParse(await readJsonFile(fileOf(config)));
  return parsed.success ? parsed.data : undefined;
}

export async function keepConnection(config: Pick<Config, 'home'>, record: ConnectionRecord): Promise<void> {
  await writePrivateFile(fileOf(config), `${JSON.stringify(record)}\n`);
}

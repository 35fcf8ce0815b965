/**
 * Remembers which local services run apart from the stack of a home. So commands such as `sandflow local reset` act
 * only on the service that the user means.
 */
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { readJsonFile } from '../../os/private-file.js';

const serviceSchema = z.object({ pid: z.number().int().positive(), url: z.string(), apiKeyFile: z.string() });
export type RunningLocalService = z.infer<typeof serviceSchema>;

const answerWithinMs = 2_000;

const folderOf = (home: string) => join(home, 'local-services');

/** The file in which a service that this process starts says where it runs. */
export function announcementOf(home: string): string {
  return join(folderOf(home), `${process.pid}.json`);
}

/** The services whose process is alive. Forgets the others, which were killed. */
export async function runningLocalServices(home: string): Promise<RunningLocalService[]> {
  const running: RunningLocalService[] = [];
  for (const name of await readdir(folderOf(home)).catch(() => [])) {
    // Other files in this folder are not ours, so do not read or remove them.
    if (!/^\d+\.json$/.test(name)) continue;
    const path = join(folderOf(home), name);
    const parsed = serviceSchema.safeParse(await readJsonFile(path));
    if (parsed.success && (await isServed(parsed.data))) running.push(parsed.data);
    else await rm(path, { force: true });
  }
  return running;
}

/** Another process may have got the process id, so the address counts too. */
async function isServed({ pid, url }: RunningLocalService): Promise<boolean> {
  try {
    process.kill(pid, 0);
    await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(answerWithinMs) });
    return true;
  } catch {
    return false;
  }
}

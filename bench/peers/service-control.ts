/** Starts the bench's service, reads its books, and switches its faults. */
import { join } from 'node:path';
import { startChild } from '../processes/child.js';
import type { Books, ServiceFaults } from './service/books.js';
import type { Delays } from './service/sandboxes.js';

export type BenchService = Awaited<ReturnType<typeof startService>>;

export async function startService(directory: string, delays: Delays) {
  const entry = new URL('./service.js', import.meta.url);
  const child = await startChild(entry, { settings: delays, logFile: join(directory, 'service.log') });
  async function ask<T>(path: string, body?: object): Promise<T> {
    const answer = await fetch(`${child.url}/_bench/${path}`, { method: 'POST', body: body && JSON.stringify(body) });
    return (await answer.json()) as T;
  }
  return {
    url: child.url,
    cpuSeconds: child.cpuSeconds,
    books: () => ask<Books>('books'),
    forget: () => ask('forget'),
    setFaults: (faults: Partial<ServiceFaults>) => ask('faults', faults),
    close: child.stop,
  };
}

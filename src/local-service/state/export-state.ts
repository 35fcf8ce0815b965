/**
 * Exports the whole state in one archive. The archive contains the same files as if the service had been killed at that
 * moment. So an import is like a start after a kill. Calls and scheduled work pause while the database and the machines
 * are copied. They continue before anything is sent, so a slow reader does not delay them. The copy takes disk space,
 * except for the disks on file systems that share blocks.
 */
import { mkdtemp, open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import type { Assembly } from '../assembly.js';
import { removeTree, streamFolder } from '../machine/index.js';
import type { CallStore } from '../store/call-store.js';
import type { CallGate } from './call-gate.js';
import { machinesFolder, manifestFile, newManifest } from './manifest.js';

export const outgoingPrefix = 'outgoing-';

/**
 * @param options.directory the directory of the service
 * @returns a gzipped tar with every secret of the service in it; the copy is removed when the stream closes
 */
export async function exportState(
  { context, scheduler }: Assembly,
  options: { readonly directory: string; readonly gate: CallGate; readonly calls: Pick<CallStore, 'last'> },
): Promise<Readable> {
  const { directory, gate, calls } = options;
  const staged = await mkdtemp(join(directory, outgoingPrefix));
  const discard = (): Promise<void> => removeTree(staged);
  const release = await gate.hold();
  try {
    await scheduler.pause();
    // This read first writes the calls that are only in memory.
    calls.last();
    context.database.copyTo(join(staged, 'service.db'));
    await context.host.copyAll(join(staged, machinesFolder));
    await writeFile(join(staged, manifestFile), JSON.stringify(newManifest(context.clock.iso())));
  } catch (cause) {
    await discard();
    throw cause;
  } finally {
    scheduler.resume();
    release();
  }
  const handle = await open(staged);
  try {
    const stream = await streamFolder({ handle, path: staged }, { mayHaveChanged: async () => false });
    stream.once('close', () => {
      discard().catch((cause: unknown) =>
        context.log('the exported files could not be removed', { reason: String(cause) }),
      );
    });
    return stream;
  } finally {
    await handle.close();
  }
}

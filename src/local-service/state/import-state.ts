/**
 * Replaces the whole state by the state in an archive. The archive is unpacked and checked in a separate folder. The
 * rename of that folder decides that the import takes place.
 *
 *     incoming-…  ── checked ──►  import  ── applied ──►  gone
 *
 * A crash before the rename leaves the old state. After a crash past the rename, the next start applies what is in
 * `import` before it does anything else. There is never a mixture of both states.
 */
import { chmod, mkdir, mkdtemp, readdir, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import type { Assembly } from '../assembly.js';
import { startAllWork, stopAllWork } from '../background/start-stop.js';
import type { ClockState, ControlledClock } from '../clock.js';
import { removeTree, replaceMachines } from '../machine/index.js';
import type { CallStore } from '../store/call-store.js';
import type { Database } from '../store/database.js';
import type { CallGate } from './call-gate.js';
import { outgoingPrefix } from './export-state.js';
import { inspectTree } from './inspect-tree.js';
import { type CheckedArchive, checkArchive, machinesFolder } from './manifest.js';
import { type ImportLimits, unpack } from './unpack.js';

const incomingPrefix = 'incoming-';
const decidedFolder = 'import';

interface ImportOptions {
  /** The directory of the service. */
  readonly directory: string;
  readonly gate: CallGate;
  readonly calls: Pick<CallStore, 'load'>;
  readonly clock: ControlledClock;
  readonly importLimits: ImportLimits;
}

/**
 * @param archive a gzipped tar that `exportState` has created; it is read to its end
 * @throws ServiceError `bad_archive`, `archive_of_other_version`; the state is then unchanged
 */
export async function importState(
  assembly: Assembly,
  archive: Readable,
  { directory, gate, calls, clock, importLimits: limits }: ImportOptions,
): Promise<CheckedArchive> {
  const { database, stores, closing: signal } = assembly.context;
  // The archive may end with an error at any time, and before it is unpacked, only this handler receives its errors.
  archive.on('error', () => undefined);
  const incoming = await mkdtemp(join(directory, incomingPrefix));
  // An archive can set the mode of the folder that it is unpacked into. So this folder is inside a private one.
  const state = join(incoming, 'state');
  try {
    await mkdir(state);
    await unpack(archive, state, { limits, signal });
    await chmod(state, 0o700);
    await inspectTree(state, { maxBytes: limits.maxBytes, signal });
    const checked = await checkArchive(state);
    signal.throwIfAborted();
    const release = await gate.hold();
    try {
      await stopAllWork(assembly);
      try {
        await decide(state, directory, database);
      } finally {
        clock.restore(stores.settings.get<ClockState>('clock'));
        assembly.load();
        calls.load();
        const start = await startAllWork(assembly);
        start();
      }
    } finally {
      release();
    }
    return checked;
  } finally {
    await removeTree(incoming);
  }
}

/**
 * Makes the import final and applies it. If the rows cannot be written, for example because the disk is full, nothing
 * has changed yet, and the import is undone.
 */
async function decide(state: string, directory: string, database: Database): Promise<void> {
  const decided = join(directory, decidedFolder);
  await rename(state, decided);
  try {
    database.replaceBy(join(decided, 'service.db'));
  } catch (cause) {
    await removeTree(decided);
    throw cause;
  }
  await moveMachines(directory);
}

/** Applies an import that was decided, if there is one. Called before anything else. Safe to repeat. */
export async function finishImport(directory: string, database: Database): Promise<void> {
  const decided = join(directory, decidedFolder);
  const isDecided = await stat(decided).then(
    () => true,
    () => false,
  );
  if (!isDecided) return;
  database.replaceBy(join(decided, 'service.db'));
  await moveMachines(directory);
}

/** Replaces the machines: the second half of an import, after every row was replaced. */
async function moveMachines(directory: string): Promise<void> {
  const decided = join(directory, decidedFolder);
  await replaceMachines(join(directory, 'machines'), join(decided, machinesFolder));
  await removeTree(decided);
}

/** Removes the remains of exports and imports that a kill interrupted. Called before anything else. */
export async function removeUndecided(directory: string): Promise<void> {
  for (const name of await readdir(directory)) {
    if (!name.startsWith(incomingPrefix) && !name.startsWith(outgoingPrefix)) continue;
    await removeTree(join(directory, name));
  }
}

/** The content of an archive of the whole state: `manifest.json`, `service.db`, `machines/`. */
import { lstat, mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { isUsable } from '../../contract/workflow-safe/states.js';
import { reasonOf } from '../log.js';
import { listMachines } from '../machine/index.js';
import { ServiceError } from '../service-error.js';
import { type Database, openDatabase, strangeSchema } from '../store/database.js';
import { createSandboxStore } from '../store/sandbox-store.js';
import { schemaVersion } from '../store/schema.js';
import { createSnapshotStore } from '../store/snapshot-store.js';
import { checkRows } from './check-rows.js';
import { badArchive } from './unpack.js';

export const manifestFile = 'manifest.json';
export const machinesFolder = 'machines';
const archiveFormat = 'sandflow-local-state';
const formatVersion = 1;

const manifestSchema = z.object({
  format: z.literal(archiveFormat),
  version: z.number().int().positive(),
  layout: z.number().int().positive(),
  exportedAt: z.string(),
});
export type Manifest = z.infer<typeof manifestSchema>;

export function newManifest(exportedAt: string): Manifest {
  return { format: archiveFormat, version: formatVersion, layout: schemaVersion, exportedAt };
}

const maxManifestBytes = 64 * 1024;

export interface CheckedArchive {
  readonly exportedAt: string;
  readonly sandboxes: number;
  readonly snapshots: number;
}

/**
 * Checks everything in an unpacked archive that its import relies on.
 * @throws ServiceError `bad_archive`, `archive_of_other_version`
 */
export async function checkArchive(folder: string): Promise<CheckedArchive> {
  for (const file of [manifestFile, 'service.db']) await requireFile(folder, file);
  const manifest = await readManifest(folder);
  const names = (await readdir(folder)).sort();
  if (names.join() !== [machinesFolder, manifestFile, 'service.db'].sort().join()) {
    throw badArchive(`it contains unexpected files: ${names.join(', ')}.`);
  }
  if (!(await lstat(join(folder, machinesFolder))).isDirectory())
    throw badArchive('its entry machines is not a folder.');
  const machines = await listMachines(join(folder, machinesFolder)).catch((cause: unknown) => {
    throw badArchive(reasonOf(cause), cause);
  });
  return { exportedAt: manifest.exportedAt, ...(await checkDatabase(folder, machines)) };
}

/**
 * Requires a regular file before it is opened: opening a pipe would wait for ever, and a link could lead out of the
 * archive.
 */
async function requireFile(folder: string, name: string): Promise<void> {
  const stats = await lstat(join(folder, name)).catch(() => undefined);
  if (!stats?.isFile())
    throw badArchive(`it does not contain the file ${name}, so it is not an export of a local service.`);
  if (name === manifestFile && stats.size > maxManifestBytes) throw badArchive(`its ${name} is too long.`);
}

async function readManifest(folder: string): Promise<Manifest> {
  let json: unknown;
  try {
    json = JSON.parse(await readFile(join(folder, manifestFile), 'utf8'));
  } catch (cause) {
    throw badArchive('its manifest.json cannot be read, so it is not an export of a local service.', cause);
  }
  const parsed = manifestSchema.safeParse(json);
  if (!parsed.success) throw badArchive('its manifest.json does not have the format of an export.');
  const { version, layout } = parsed.data;
  if (version !== formatVersion || layout !== schemaVersion) {
    const message = `The archive has version ${version} and layout ${layout}, and this version of sandflow reads only version ${formatVersion} and layout ${schemaVersion}. Import it with the version that wrote it. Nothing was changed.`;
    throw new ServiceError(400, 'archive_of_other_version', message);
  }
  return parsed.data;
}

/**
 * Moves the rows into a new database and checks them there. The layout of the tables in the archive is not trusted, so
 * the service reads only the new database.
 */
async function checkDatabase(
  folder: string,
  machines: Awaited<ReturnType<typeof listMachines>>,
): Promise<{ readonly sandboxes: number; readonly snapshots: number }> {
  const foreign = join(folder, 'foreign');
  await mkdir(foreign);
  await rename(join(folder, 'service.db'), join(foreign, 'service.db'));
  requireSoundDatabase(foreign);
  const database = openDatabase(folder);
  try {
    takeRows(database, join(foreign, 'service.db'));
    checkRows(database);
    const sandboxes = createSandboxStore(database);
    sandboxes.load();
    for (const { id, state } of sandboxes.living()) {
      if (isUsable(state) && !machines.disks.has(id)) throw badArchive(`the disk of ${id} is missing.`);
    }
    const snapshots = createSnapshotStore(database).available();
    for (const { id } of snapshots) if (!machines.snapshots.has(id)) throw badArchive(`the data of ${id} is missing.`);
    return { sandboxes: sandboxes.livingCount, snapshots: snapshots.length };
  } catch (cause) {
    throw cause instanceof ServiceError ? cause : badArchive('its database cannot be read.', cause);
  } finally {
    database.close();
    await rm(foreign, { recursive: true, force: true });
  }
}

/** Requires a complete database without code. */
function requireSoundDatabase(folder: string): void {
  const strange = strangeSchema(join(folder, 'service.db'));
  if (strange !== undefined) throw badArchive(`its database contains ${strange}.`);
  let database: ReturnType<typeof openDatabase>;
  try {
    database = openDatabase(folder);
  } catch (cause) {
    throw badArchive('its database cannot be opened.', cause);
  }
  try {
    const damage = database.damage();
    if (damage !== undefined) throw badArchive(`its database is damaged: ${damage}.`);
  } finally {
    database.close();
  }
}

function takeRows(database: Database, path: string): void {
  try {
    database.replaceBy(path);
  } catch (cause) {
    throw badArchive(`its database holds rows that no local service writes (${reasonOf(cause)}).`, cause);
  }
}

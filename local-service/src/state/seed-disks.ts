/**
 * Creates the disks and snapshots of seeded sandboxes, before any record. If one cannot be created, all are removed.
 */
import type { Context } from '../core/context.js';
import { newSandboxId, newSnapshotId } from '../core/ids.js';
import { badSeed, type SeedFiles, type SeedSandbox } from './seed-document.js';

export interface SeededDisk {
  readonly sandboxId: string;
  readonly seed: SeedSandbox;
  /** Oldest first. An archived sandbox restores the last one. */
  readonly snapshots: readonly { readonly id: string; readonly name: string | null; readonly sizeBytes: number }[];
}

export function createSeedDisks({ host, stores }: Context) {
  const made: SeededDisk[] = [];
  const touched = { sandboxes: new Set<string>(), snapshots: new Set<string>() };

  async function makeSnapshot(name: string | null, files?: SeedFiles): Promise<SeededDisk['snapshots'][number]> {
    const id = newSnapshotId();
    touched.snapshots.add(id);
    const { sizeBytes } = await host.createSnapshot(id, contentOf(files));
    return { id, name, sizeBytes };
  }

  return {
    made,
    /** Creates the disk and the snapshots of one sandbox. @throws MachineError if a path cannot be that of a file */
    async make(seed: SeedSandbox, index: number) {
      const sandboxId = seed.id ?? newSandboxId();
      // An id that is free stays free: seeds take turns, and nothing else chooses an id.
      if (stores.sandboxes.find(sandboxId))
        throw badSeed(`sandboxes.${index}.id: the sandbox ${sandboxId} already exists, perhaps from an earlier seed`);
      touched.sandboxes.add(sandboxId);
      const snapshots: SeededDisk['snapshots'][number][] = [];
      for (const { name, files } of seed.snapshots ?? []) snapshots.push(await makeSnapshot(name, files));
      // If an earlier seed was killed, it may have left a disk with the same id.
      if (seed.id !== undefined) await host.deleteDisk(sandboxId);
      if (seed.state === 'archived') snapshots.push(await makeSnapshot(seed.snapshotName ?? null, seed.files));
      else if (seed.state !== 'cancelled') {
        await host.createDisk(sandboxId);
        for (const [path, bytes] of contentOf(seed.files)) await host.writeFile(sandboxId, path, bytes);
      }
      made.push({ sandboxId, seed, snapshots });
    },
    /** Removes everything that was created. */
    async remove() {
      for (const id of touched.sandboxes) await host.deleteDisk(id);
      for (const id of touched.snapshots) await host.deleteSnapshot(id);
    },
  };
}

function contentOf(files: SeedFiles = {}): Map<string, Buffer> {
  const bytesOf = (content: SeedFiles[string]): Buffer =>
    typeof content === 'string' ? Buffer.from(content) : Buffer.from(content.base64, 'base64');
  return new Map(Object.entries(files).map(([path, content]) => [path, bytesOf(content)]));
}

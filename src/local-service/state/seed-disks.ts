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

  async function fill(sandboxId: string, files: SeedFiles = {}): Promise<void> {
    // If an earlier seed was killed, it may have left a disk with the same id.
    await host.deleteDisk(sandboxId);
    await host.createDisk(sandboxId);
    for (const [path, content] of Object.entries(files)) {
      const bytes = typeof content === 'string' ? Buffer.from(content) : Buffer.from(content.base64, 'base64');
      await host.writeFile(sandboxId, path, bytes);
    }
  }

  async function snapshotOf(sandboxId: string, name: string | null): Promise<SeededDisk['snapshots'][number]> {
    const id = newSnapshotId();
    touched.snapshots.add(id);
    const { sizeBytes } = await host.takeSnapshot(sandboxId, id);
    return { id, name, sizeBytes };
  }

  return {
    made,
    /** Creates the disk and the snapshots of one sandbox. @throws MachineError if a path cannot be that of a file */
    async make(seed: SeedSandbox, index: number) {
      const sandboxId = seed.id ?? newSandboxId();
      if (stores.sandboxes.find(sandboxId))
        throw badSeed(`sandboxes.${index}.id: the sandbox ${sandboxId} already exists, perhaps from an earlier seed`);
      touched.sandboxes.add(sandboxId);
      const snapshots: SeededDisk['snapshots'][number][] = [];
      for (const { name, files } of seed.snapshots ?? []) {
        await fill(sandboxId, files);
        snapshots.push(await snapshotOf(sandboxId, name));
      }
      await fill(sandboxId, seed.files);
      if (seed.state === 'archived') snapshots.push(await snapshotOf(sandboxId, seed.snapshotName ?? null));
      if (seed.state === 'archived' || seed.state === 'cancelled') await host.deleteDisk(sandboxId);
      made.push({ sandboxId, seed, snapshots });
    },
    /** Removes everything that was created. */
    async remove() {
      for (const id of touched.sandboxes) await host.deleteDisk(id);
      for (const id of touched.snapshots) await host.deleteSnapshot(id);
    },
  };
}

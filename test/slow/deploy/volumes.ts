/** Volumes of pods, with the owners and modes that Kubernetes gives them. */
import { chmodSync, chownSync, mkdirSync, readlinkSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export type SecretFiles = Readonly<Record<string, string>>;

export interface PodVolume {
  readonly path: string;
  /** Replaces a file, as the kubelet does after a change of the Secret. */
  readonly write?: (file: string, content: string) => void;
}

/** A volume of secrets as the kubelet writes it: links to a folder that it replaces as a whole. */
export function secretVolume(
  path: string,
  files: SecretFiles,
  { group, mode }: { readonly group: number; readonly mode: number },
) {
  let content = files;
  let versions = 0;
  const writeAll = () => {
    versions += 1;
    const version = `..2026_01_02_03_04_05.${versions}`;
    mkdirSync(join(path, version));
    for (const [name, text] of Object.entries(content)) {
      const file = join(path, version, name);
      writeFileSync(file, text);
      chownSync(file, 0, group);
      chmodSync(file, mode);
    }
    symlinkSync(version, join(path, '..data_tmp'));
    const before = versions > 1 ? readlinkSync(join(path, '..data')) : undefined;
    renameSync(join(path, '..data_tmp'), join(path, '..data'));
    if (before !== undefined) rmSync(join(path, before), { recursive: true });
  };
  mkdirSync(path);
  chownSync(path, 0, group);
  // The mode of the memory that the kubelet mounts for it.
  chmodSync(path, 0o3777);
  writeAll();
  for (const name of Object.keys(files)) symlinkSync(join('..data', name), join(path, name));
  return {
    path,
    write(file: string, text: string) {
      content = { ...content, [file]: text };
      writeAll();
    },
  };
}

/** A volume that all pods share, as a storage class provides it for a group. */
export function sharedVolume(path: string, fsGroup: number): string {
  mkdirSync(path);
  chownSync(path, 0, fsGroup);
  chmodSync(path, 0o2775);
  return path;
}

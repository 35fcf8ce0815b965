import { sep } from 'node:path';

/** True if `path` lies below `folder`. Both are absolute and normalized. */
export function isBelow(path: string, folder: string): boolean {
  return path.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`);
}

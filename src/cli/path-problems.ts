/** Says why a path cannot be used, instead of the name of a system call. */
import { stringIn, systemCodeOf } from './error-fields.js';

export const pathProblems = {
  EACCES: 'permission denied',
  EEXIST: 'there is a file where a folder is needed',
  EISDIR: 'it is a folder',
  ELOOP: 'its links lead in a circle',
  ENAMETOOLONG: 'its name is too long',
  ENOENT: 'it does not exist, or its folder does not',
  ENOTDIR: 'a part of it is a file where a folder is needed',
  ENOTEMPTY: 'the folder is not empty',
  EPERM: 'the system does not permit it',
  EROFS: 'it is on a read-only file system',
} as const;

/** @returns undefined for an error that names no path, or that is no problem of its path */
export function pathProblemOf(error: unknown): string | undefined {
  const code = systemCodeOf(error);
  const why = code === undefined ? undefined : (pathProblems as Readonly<Record<string, string>>)[code];
  // The target of a rename: its source is the part of the file that was written first.
  const path = stringIn(error, 'dest') ?? stringIn(error, 'path')?.replace(/\.\d+\.part$/, '');
  if (why === undefined || path === undefined) return undefined;
  return `${path} cannot be used: ${why}. Choose another path, or correct this one.`;
}

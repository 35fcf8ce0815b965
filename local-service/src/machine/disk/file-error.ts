/** Maps an error of the file system to the error of a file call. */
import { MachineError } from '../machine-error.js';

export function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}

/** Errors that are not about the path, such as a full disk, are returned unchanged. */
export function fileError(cause: unknown, path: string): unknown {
  if (hasCode(cause, 'ENOENT')) return new MachineError('not_found', `The file ${path} does not exist.`, { cause });
  if (hasCode(cause, 'ENOTDIR'))
    return new MachineError('not_found', `${path} does not exist, because a parent of it is a file.`, { cause });
  if (hasCode(cause, 'ENAMETOOLONG')) return new MachineError('not_found', 'The path is too long.', { cause });
  // An earlier check found no link here, so a program in the sandbox has created one since.
  if (hasCode(cause, 'ELOOP'))
    return new MachineError('outside', `${path} became a link while it was being opened.`, { cause });
  if (hasCode(cause, 'EISDIR')) return new MachineError('not_a_file', `${path} is a folder, not a file.`, { cause });
  if (hasCode(cause, 'ENXIO')) return new MachineError('not_a_file', `${path} is a pipe or socket.`, { cause });
  if (hasCode(cause, 'EACCES') || hasCode(cause, 'EPERM')) {
    return new MachineError('no_access', `The permissions of ${path} do not allow this access.`, { cause });
  }
  // A program in the sandbox holds a lease on the file and must release it before it can be opened.
  if (hasCode(cause, 'EAGAIN')) {
    return new MachineError('no_access', `${path} is in use by a program of the sandbox.`, { cause });
  }
  return cause;
}

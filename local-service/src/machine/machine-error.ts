import { SandflowError } from '../../../src/errors/sandflow-error.js';

export type MachineErrorCode =
  // The path of a file cannot be used.
  | 'not_found'
  | 'not_a_file'
  | 'not_a_folder'
  | 'outside'
  | 'too_large'
  | 'no_access'
  // The sandbox or the snapshot has no directory.
  | 'no_disk'
  | 'no_snapshot'
  // The id cannot be the name of a directory.
  | 'bad_id'
  // The command cannot be handed to a shell, or its shell could not be started.
  | 'bad_command'
  | 'copy_failed'
  // Git could not clone a repository.
  | 'clone_failed'
  // The file or folder could not be read to its end, so the download is incomplete.
  | 'download_failed'
  // Processes did not end when they were killed.
  | 'processes_remain'
  // Bubblewrap was requested and does not work here.
  | 'isolation_unavailable'
  | 'network_unavailable'
  // The file system of the service's data runs no programs.
  | 'noexec'
  // A folder of programs cannot be shown to sandboxes.
  | 'bad_programs'
  // No server of the sandbox answers on the port.
  | 'not_listening'
  // The display or its VNC server did not start.
  | 'no_desktop'
  // The control group of a sandbox could not be created.
  | 'limits_unavailable'
  // The sandbox was ended while a command or its desktop was to start.
  | 'ended'
  // The host was closed.
  | 'closed';

export class MachineError extends SandflowError {
  override readonly name = 'MachineError';
  declare readonly code: MachineErrorCode;

  constructor(code: MachineErrorCode, message: string, options?: { readonly cause?: unknown }) {
    super({ foreign: code }, message, options);
  }
}

/** The error of what the end of its sandbox has overtaken. */
export function endedMeanwhile(): MachineError {
  return new MachineError('ended', 'The sandbox was stopped before what was asked of it had started.');
}

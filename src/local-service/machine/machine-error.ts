import { SandflowError } from '../../contract/workflow-safe/sandflow-error.js';

/**
 * The codes of errors on a machine.
 *
 * - `not_found`, `not_a_file`, `not_a_folder`, `outside`, `too_large`, `no_access`: the path of a file cannot be used;
 * - `no_disk`, `no_snapshot`: the sandbox or the snapshot has no directory;
 * - `bad_id`: the id cannot be the name of a directory;
 * - `bad_command`: the command cannot be handed to a shell, or its shell could not be started;
 * - `copy_failed`: a disk could not be copied;
 * - `download_failed`: the file or folder could not be read to its end, so the download is incomplete;
 * - `processes_remain`: processes did not end when they were killed;
 * - `isolation_unavailable`: bubblewrap was requested and does not work here;
 * - `network_unavailable`: the network of a sandbox could not be opened;
 * - `limits_unavailable`: the control group of a sandbox could not be created;
 * - `closed`: the host was closed, or the sandbox was ended while a command was to start.
 */
export type MachineErrorCode =
  | 'not_found'
  | 'not_a_file'
  | 'not_a_folder'
  | 'outside'
  | 'too_large'
  | 'no_access'
  | 'no_disk'
  | 'no_snapshot'
  | 'bad_id'
  | 'bad_command'
  | 'copy_failed'
  | 'download_failed'
  | 'processes_remain'
  | 'isolation_unavailable'
  | 'network_unavailable'
  | 'limits_unavailable'
  | 'closed';

export class MachineError extends SandflowError {
  override readonly name = 'MachineError';
  declare readonly code: MachineErrorCode;

  constructor(code: MachineErrorCode, message: string, options?: { readonly cause?: unknown }) {
    super({ foreign: code }, message, options);
  }
}

import { SandflowError } from '../../contract/workflow-safe/sandflow-error.js';

/**
 * The codes of SSH errors.
 *
 * - `not_a_public_key`: the text is not a public key in the format of OpenSSH;
 * - `private_key`: the text is a private key, which nobody should hand over;
 * - `unsupported_key`: a public key of a type that is not supported, or an RSA key that is too long;
 * - `weak_key`: an RSA key of less than 2048 bits;
 * - `bad_host_key`: the file that keeps the host key holds something else;
 * - `listen_failed`: no port could be opened.
 */
type SshErrorCode =
  | 'not_a_public_key'
  | 'private_key'
  | 'unsupported_key'
  | 'weak_key'
  | 'bad_host_key'
  | 'listen_failed';

export class SshError extends SandflowError {
  override readonly name = 'SshError';
  declare readonly code: SshErrorCode;

  constructor(code: SshErrorCode, message: string, options?: { readonly cause?: unknown }) {
    super({ foreign: code }, message, options);
  }
}

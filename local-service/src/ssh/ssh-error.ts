import { SandflowError } from '../../../src/errors/sandflow-error.js';

type SshErrorCode =
  | 'not_a_public_key'
  // A private key, which nobody should hand over.
  | 'private_key'
  // A type that is not supported, or an RSA key that is too long.
  | 'unsupported_key'
  // An RSA key of less than 2048 bits.
  | 'weak_key'
  // The file that keeps the host key holds something else.
  | 'bad_host_key'
  // No port could be opened.
  | 'listen_failed';

export class SshError extends SandflowError {
  override readonly name = 'SshError';
  declare readonly code: SshErrorCode;

  constructor(code: SshErrorCode, message: string, options?: { readonly cause?: unknown }) {
    super({ foreign: code }, message, options);
  }
}

import type { z } from 'zod';
import type { DesktopBody, desktopQuerySchema, SshKeyBody } from '../../contract/requests/sandbox-requests.js';
import type { Answer, CallOptions, StreamOptions } from '../call-options.js';
import type { DownloadStream, SavedDownload, SaveOptions } from '../download.js';

/** Body and query of POST /sandboxes/{sandboxId}/desktop. */
export type DesktopRequest = DesktopBody & z.infer<typeof desktopQuerySchema>;

/** The machine of a sandbox: processes, artifacts, desktop, SSH. */
export interface MachineCalls {
  /** Lists at most 500 processes. `live: false` marks the last stored sample of a stopped sandbox. */
  listProcesses(sandboxId: string, options?: CallOptions): Answer<'listProcesses'>;
  /** Downloads a file of the sandbox, or a folder as tar.gz, of any size to this machine. Safe to repeat. */
  downloadArtifact(sandboxId: string, path: string, options: SaveOptions): Promise<SavedDownload>;
  /** Downloads the same content as a stream. */
  openArtifact(sandboxId: string, path: string, options?: StreamOptions): Promise<DownloadStream>;
  /** The URL is a secret. `vnc: '1'` requests a VNC URL, and `publicAccess` a URL without a token. Safe to repeat. */
  openDesktop(sandboxId: string, request?: DesktopRequest, options?: CallOptions): Answer<'openDesktop'>;
  /** Safe to repeat. */
  setSshKey(sandboxId: string, body: SshKeyBody, options?: CallOptions): Answer<'setSshKey'>;
}

/** What the command line may touch of its process; tests hand in their own. */
import type { Config } from '../config.js';
import type { MainProgram } from '../supervisor/index.js';

export interface OutputStream {
  /** False where the reader is behind, who tells by `drain` that there is room again. */
  write(text: string | Uint8Array): unknown;
  once?(event: 'drain' | 'close', listener: () => void): unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
  /** Of a terminal; respects NO_COLOR. */
  hasColors?(): boolean;
}

export interface CliIo {
  readonly stdin: AsyncIterable<string | Buffer>;
  /** Results, and nothing else. */
  readonly stdout: OutputStream;
  /** Everything for people. */
  readonly stderr: OutputStream;
  /** Relative paths start here. */
  readonly cwd: string;
  /** How this program is started: the embedded stack is made of commands of it. */
  readonly main: MainProgram;
  readonly readConfig: () => Promise<Config>;
  /** Sets what modes new files of this process and its children do not get. Left out where the process is not this program's own. */
  readonly umask?: (mask: number) => void;
  /** Aborted by the first Ctrl-C or SIGTERM; its reason is the name of the signal. */
  readonly interrupted: AbortSignal;
}

/** The parts of the process that the command line may use. Tests pass their own implementations. */
import type { Config } from '../config.js';
import type { MainProgram } from '../supervisor/index.js';

export interface OutputStream {
  /** Returns false if the reader is too slow. `drain` signals that it can accept more. */
  write(text: string | Uint8Array): unknown;
  once?(event: 'drain' | 'close', listener: () => void): unknown;
  readonly isTTY?: boolean;
  /** True for a terminal on which nothing may be drawn again. */
  readonly isPlain?: boolean;
  readonly columns?: number;
  readonly rows?: number;
  /** True if colours can be used. Only terminals have it. Respects NO_COLOR. */
  hasColors?(): boolean;
}

export interface CliIo {
  readonly stdin: AsyncIterable<string | Buffer> & {
    /** True if it is a terminal, so that nothing is piped into the command. */
    readonly isTTY?: boolean;
  };
  /** Results only. */
  readonly stdout: OutputStream;
  /** Messages for people. */
  readonly stderr: OutputStream;
  /** True if terminals are written to line by line, as a log of CI keeps them. Default: false. */
  readonly plainLines?: boolean;
  /** Base of relative paths. */
  readonly cwd: string;
  /** How to start this program. The embedded stack starts its processes this way. */
  readonly main: MainProgram;
  /** The name of the command, like `jobs watch`, for `sandflow status`. */
  readonly command?: string;
  /**
   * Reads the configuration. The home must belong to the user, unless `checksHome` is false. A worker, a bridge or a
   * codec server does not check this, because its operator prepares the home.
   * @throws SandflowError `home_not_trusted`, `bad_configuration`
   */
  readonly readConfig: (options?: { readonly checksHome?: boolean }) => Promise<Config>;
  /** Sets the umask of this process and its children. Omitted if the process belongs to another program. */
  readonly umask?: (mask: number) => void;
  /** Aborted by the first Ctrl-C or SIGTERM; its reason is the name of the signal. */
  readonly interrupted: AbortSignal;
}

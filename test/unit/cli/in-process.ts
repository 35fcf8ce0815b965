import type { CliIo } from '../../../src/cli/io.js';
import { runCli } from '../../../src/cli/run-cli.js';
import { readConfig } from '../../../src/config.js';
import { temporaryDirectory } from './temporary-directory.js';

export interface CliOutcome {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface InProcessOptions {
  /** A function is called when the command reads, such as an answer. */
  readonly stdin?: string | (() => Promise<string>);
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Replaces reading `env`. A test that passes one that throws proves that nothing was configured or started. */
  readonly readConfig?: CliIo['readConfig'];
  /** Ctrl-C. Default: never. */
  readonly interrupted?: AbortSignal;
  /** Called with the stderr so far. */
  readonly onStderr?: (text: string) => void;
  /** Called with the stdout so far. */
  readonly onStdout?: (text: string) => void;
  /** True for messages on a terminal, where a person can answer. */
  readonly isTTY?: boolean;
}

/** Runs the command line in this process, with pipes as its streams. */
export async function cli(args: readonly string[], options: InProcessOptions = {}): Promise<CliOutcome> {
  const home = await temporaryDirectory();
  let stdout = '';
  let stderr = '';
  const exitCode = await runCli(args, {
    stdin: (async function* () {
      yield typeof options.stdin === 'function' ? await options.stdin() : (options.stdin ?? '');
    })(),
    stdout: {
      write(text) {
        stdout += text;
        options.onStdout?.(stdout);
      },
    },
    stderr: {
      isTTY: options.isTTY,
      write(text) {
        stderr += text;
        options.onStderr?.(stderr);
      },
    },
    main: { command: process.execPath, args: ['no-such-program.js'] },
    cwd: options.cwd ?? home,
    readConfig: options.readConfig ?? (async () => readConfig({ SANDFLOW_HOME: home, ...options.env })),
    interrupted: options.interrupted ?? new AbortController().signal,
  });
  return { exitCode, stdout, stderr };
}

/** What the hidden `sandflow supervisor` does: the embedded stack in the background. */
import { runSupervisor } from '../../supervisor/index.js';
import { exitCodes } from '../exit-codes.js';
import type { CliIo } from '../io.js';

/** Ends by itself when idle, and in order at SIGTERM. Its output is a log file. */
export async function serveSupervisor(io: CliIo): Promise<number> {
  const config = await io.readConfig();
  io.umask?.(0o077);
  const log = (line: string) => void io.stderr.write(`${new Date().toISOString()} ${line}\n`);
  await runSupervisor(config, { main: io.main, foreground: false, log, signal: io.interrupted });
  return exitCodes.done;
}

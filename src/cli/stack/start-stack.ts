/** `sandflow up`. */
import { askSupervisor } from '../../supervisor/control-client.js';
import { ensureStack } from '../../supervisor/index.js';
import { stackPaths } from '../../supervisor/stack-paths.js';
import type { CliIo } from '../io.js';
import { showStack } from './show-stack.js';

/**
 * Starts the stack, or joins the running one, and asks its supervisor to keep it up. Safe to repeat.
 * @throws SandflowError as `ensureStack`
 */
export async function startInBackground(options: { readonly json?: boolean }, io: CliIo): Promise<void> {
  const config = await io.readConfig();
  const { main, command, interrupted: signal } = io;
  const onProgress = (line: string) => void (options.json || io.stderr.write(`${line}\n`));
  const stack = await ensureStack(config, { main, command, signal, onProgress });
  // Ask before the release, so that the stack cannot end by itself in between.
  await askSupervisor(stackPaths(config.home).stateFile, 'keep');
  stack.release();
  await showStack(options, io);
}

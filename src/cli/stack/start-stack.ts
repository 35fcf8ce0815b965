/** `sandflow up`. */

import { askSupervisor } from '../../supervisor/control-client.js';
import { ensureStack } from '../../supervisor/ensure-stack.js';
import { stackPaths } from '../../supervisor/stack-paths.js';
import { readLocalFacts } from '../connect/local-facts.js';
import type { CliIo } from '../io.js';
import { oneLine } from '../output/terminal-safe.js';
import { asCalled } from '../program-name.js';
import { configOfStack } from './play-service.js';
import { showStack } from './show-stack.js';

/**
 * Starts the stack, or joins the running one, and asks its supervisor to keep it up. Safe to repeat.
 * @throws SandflowError as `ensureStack`
 */
export async function startInBackground(
  options: { readonly json?: boolean; readonly assume?: string },
  io: CliIo,
): Promise<void> {
  const config = await configOfStack(options, io);
  const { main, command, interrupted: signal } = io;
  const onProgress = (line: string) => void (options.json || io.stderr.write(`${asCalled(line)}\n`));
  const stack = await ensureStack(config, { main, command, signal, onProgress });
  // Ask before the release, so that the stack cannot end by itself in between.
  await askSupervisor(stackPaths(config.home).stateFile, 'keep');
  const { sandboxApiUrl: apiUrl, sandboxApiKey: apiKey } = stack;
  const { changedSettings } = await readLocalFacts({ apiUrl, apiKey });
  stack.release();
  if (changedSettings !== null) io.stderr.write(`${oneLine(changedSettings)}\n`);
  await showStack(options, io);
}

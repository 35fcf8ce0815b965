/** What the entry loads once it knows that it can run. The build packs this file with all that it imports. */
import type { Config } from '../config.js';

export { withoutSecrets } from '../errors/without-secrets.js';
export { askedToEnd } from '../os/end-signals.js';
export { exitCodes } from './exit-codes.js';
export { isPlainTerminal } from './output/terminal.js';
export { runCli } from './run-cli.js';

/** Reads the settings of this process. Only a command that needs them loads what reads them. */
export async function readConfig(): Promise<Config> {
  const { readConfig: read } = await import('../config.js');
  const { shareProxies } = await import('../settings/environment.js');
  shareProxies();
  return read();
}

import { join, resolve } from 'node:path';
import { aborted } from '../../os/aborted.js';
import { ensureKeyFile } from '../../os/private-file.js';
import { checkTrustedFolder, prepareTrustedFolder } from '../../os/trusted-folder.js';
import { stackPaths } from '../../supervisor/stack-paths.js';
import { announceLocalService } from '../connect/local-services.js';
import type { CliIo } from '../io.js';
import type { LocalOptions } from '../local/options.js';
import { programName } from '../program-name.js';
import { changeOf, readLocalConfig } from './local-config.js';
import { createLogLines, listened, parsePort, sayReady } from './serving.js';

/** Serves until the first Ctrl-C or SIGTERM. Work in progress continues at the next start. */
export async function serveLocal(options: LocalOptions, io: CliIo): Promise<void> {
  const port = parsePort(options.port);
  const { home } = await io.readConfig();
  // The settings in this folder name the commands that run as agents.
  await checkTrustedFolder({ path: home, setting: 'SANDFLOW_HOME' });
  const configFile =
    options.config === undefined
      ? { path: join(home, 'local-service.json'), optional: true }
      : { path: resolve(io.cwd, options.config), optional: false };
  const settings = await readLocalConfig(configFile);
  const directory = resolve(io.cwd, options.directory ?? join(home, 'local'));
  const apiKeyFile = resolve(io.cwd, options.apiKeyFile ?? join(directory, 'api-key'));
  await prepareTrustedFolder({ path: directory, setting: '--directory' });
  const { createLocalService } = await import('../../local-service/index.js');
  const isOfStack = directory === stackPaths(home).localServiceDirectory;
  // The mode of the directory keeps its content private, so files that a sandbox creates may have the usual modes.
  io.umask?.(0o022);
  const service = await createLocalService({
    ...settings,
    directory,
    apiKey: await ensureKeyFile(apiKeyFile),
    port,
    faultsEnabled: options.faults === true || settings.faultsEnabled === true,
    log: createLogLines(io.stderr),
    async changedSettings() {
      const change = await changeOf(configFile, settings);
      const restart = isOfStack
        ? `\`${programName} down && ${programName} up\``
        : `a restart of \`${programName} local\``;
      return change && `${change} The running service keeps its earlier settings until ${restart}.`;
    },
  });
  let forget = async () => {};
  try {
    const { url } = await listened(service.listen());
    if (!isOfStack) forget = await announceLocalService(home, { url, apiKeyFile });
    const text = `The local Sandbox Service runs at ${url}. Sandbox isolation: ${service.isolation.text}. Use it with:
  export SANDBOX_API_URL=${url} SANDBOX_API_KEY_FILE=${apiKeyFile}`;
    sayReady(io, { url, text }, options);
    await aborted(io.interrupted);
  } finally {
    await forget();
    await service.close();
  }
}

/** Serves until the first Ctrl-C or SIGTERM. Work in progress continues at the next start. */
import { rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { aborted } from '../../../src/os/aborted.js';
import { ensureKeyFile, writePrivateFile } from '../../../src/os/private-file.js';
import { checkTrustedFolder, prepareTrustedFolder } from '../../../src/os/trusted-folder.js';
import { createLocalService } from '../index.js';
import type { ProgramOptions } from './options.js';
import { changeOf, readDeviations, readLocalConfig } from './settings-file.js';

export interface ProgramIo {
  readonly stdout: { write(text: string): unknown };
  readonly stderr: { write(text: string): unknown };
  /** Aborted by the signal that ends the service. */
  readonly ended: AbortSignal;
}

/** @throws SandflowError that names the option that is wrong, or why the service cannot start */
export async function serve(options: ProgramOptions, { stdout, stderr, ended }: ProgramIo): Promise<void> {
  const directory = resolve(options.directory);
  const apiKeyFile = resolve(options.apiKeyFile ?? join(directory, 'api-key'));
  const settingsFile = {
    path: resolve(options.config ?? options.configIfPresent ?? join(directory, 'local-service.json')),
    optional: options.config === undefined,
  };
  // The settings name the commands that run as agents. A file that a person names is that person's own choice.
  if (settingsFile.optional) {
    const setting = options.configIfPresent === undefined ? '--directory' : 'SANDFLOW_HOME';
    await checkTrustedFolder({ path: dirname(settingsFile.path), setting });
  }
  const settings = await readLocalConfig(settingsFile);
  const assumed = options.assume === undefined ? [] : await readDeviations(resolve(options.assume));
  await prepareTrustedFolder({ path: directory, setting: '--directory' });
  // The mode of the directory keeps its content private, so files that a sandbox creates may have the usual modes.
  process.umask(0o022);
  const service = await createLocalService({
    ...settings,
    deviations: [...(settings.deviations ?? []), ...assumed],
    directory,
    apiKey: await ensureKeyFile(apiKeyFile),
    port: options.port,
    faultsEnabled: options.faults || settings.faultsEnabled === true,
    log: (message, fields = {}) =>
      stderr.write(`${JSON.stringify({ at: new Date().toISOString(), message, ...fields })}\n`),
    changedSettings: async () => {
      const change = await changeOf(settingsFile, settings);
      return change && `${change} The running service keeps its earlier settings until it is restarted.`;
    },
  });
  let isAnnounced = false;
  try {
    const { url } = await service.listen();
    isAnnounced = await announce(options.announce, { url, apiKeyFile, pid: process.pid });
    if (options.readyJson) stdout.write(`${JSON.stringify({ ready: true, url })}\n`);
    else
      stderr.write(`The local Sandbox Service runs at ${url}. Sandbox isolation: ${service.isolation.text}. Use it with:
  export SANDBOX_API_URL=${url} SANDBOX_API_KEY_FILE=${apiKeyFile}
`);
    await aborted(ended);
  } finally {
    if (isAnnounced && options.announce !== undefined) await rm(options.announce, { force: true });
    await service.close();
  }
}

/** @returns whether the file is written; the service also works where it cannot be */
async function announce(path: string | undefined, facts: object): Promise<boolean> {
  if (path === undefined) return false;
  return writePrivateFile(path, `${JSON.stringify(facts)}\n`).then(
    () => true,
    () => false,
  );
}

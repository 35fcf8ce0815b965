/**
 * Reads the chosen profile: the one of the user, in SANDFLOW_HOME, and the one of the project that contains the current
 * folder.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Config, ConnectionSettings } from '../../config.js';
import { readPrivateText } from '../../os/private-file.js';
import { UsageError } from '../usage-error.js';
import type { JobCommand, Layer } from './job-defaults.js';
import { findProjectFile } from './project-file.js';
import type { ProjectSettings, UserSettings } from './settings-schema.js';

/** The name that chooses no profile, even if the user's file chooses one. */
export const noProfile = 'none';

export interface ChosenProfile {
  /** Undefined if no profile is chosen. */
  readonly name?: string;
  /** Settings of the connection. Only a profile of the user has them. */
  readonly connection?: ConnectionSettings;
  /** Undefined if there is no such file. */
  readonly userFile?: string;
  readonly projectFile?: string;
  /** Strongest first. */
  readonly layers: Readonly<Record<JobCommand, readonly Layer[]>>;
}

export interface ProfileWish {
  readonly named: string | undefined;
  readonly cwd: string;
  readonly connectionOnly?: boolean;
}

export function userFileOf({ home }: Pick<Config, 'home'>): string {
  return join(home, 'config.json');
}

/**
 * @param connectionOnly true to read the project file only if the user has no profile of this name, so that a command
 * without defaults does not fail because of a project file
 * @param named the profile of the command line or the environment; otherwise the user's file may name one
 * @throws UsageError for an unknown profile; SandflowError `bad_configuration` for a file that is wrong or not trusted
 */
export async function readProfile(
  config: Pick<Config, 'home'>,
  { named, cwd, connectionOnly = false }: ProfileWish,
): Promise<ChosenProfile> {
  const userFile = userFileOf(config);
  const user = existsSync(userFile) ? await readUserFile(userFile) : undefined;
  const chosen = named ?? user?.profile;
  const name = chosen === noProfile ? undefined : chosen;
  const ofUser = entryOf(user?.profiles, name);
  const isEnough = connectionOnly && (name === undefined || ofUser !== undefined);
  const project = isEnough ? undefined : await readProjectFile(cwd, userFile);
  const ofProject = entryOf(project?.settings.profiles, name);
  if (name !== undefined && !ofUser && !ofProject) {
    const known = [...Object.keys(user?.profiles ?? {}), ...Object.keys(project?.settings.profiles ?? {})];
    const have = known.length === 0 ? 'There are none yet' : `There are ${[...new Set(known)].join(', ')}`;
    throw new UsageError(`There is no profile "${name}". ${have}; profiles are in ${userFile}. See sandflow config.`);
  }
  const layersOf = (command: JobCommand) =>
    [
      { from: `profile ${name}`, values: ofUser?.[command] },
      { from: `profile ${name} of ${project?.path}`, values: ofProject?.[command] },
      { from: project?.path ?? '', values: project?.settings[command] },
    ].flatMap(({ from, values }) => (values ? [{ from, values }] : []));
  return {
    ...(name !== undefined && { name }),
    ...(ofUser?.connection && { connection: ofUser.connection }),
    ...(user && { userFile }),
    ...(project && { projectFile: project.path }),
    layers: { run: layersOf('run'), fanout: layersOf('fanout') },
  };
}

async function readUserFile(path: string): Promise<UserSettings> {
  const text = await readPrivateText(path, 'file of your settings');
  const { parseSettings } = await import('./parse-settings.js');
  const { userSchema } = await import('./settings-schema.js');
  return parseSettings(text, { path, kind: 'user', userFile: path }, userSchema);
}

async function readProjectFile(
  cwd: string,
  userFile: string,
): Promise<{ readonly path: string; readonly settings: ProjectSettings } | undefined> {
  const file = await findProjectFile(cwd);
  if (!file) return undefined;
  const { parseSettings } = await import('./parse-settings.js');
  const { projectSchema } = await import('./settings-schema.js');
  const { path, text } = file;
  return { path, settings: parseSettings(text, { path, kind: 'project', userFile }, projectSchema) };
}

function entryOf<Entry>(entries: Readonly<Record<string, Entry>> | undefined, name: string | undefined) {
  return entries && name !== undefined && Object.hasOwn(entries, name) ? entries[name] : undefined;
}

/**
 * Says why this user cannot read a file, and who would have to change what. A secret that is mounted as that of root
 * cannot be read by the user of a container.
 */
import { stat } from 'node:fs/promises';
import { SandflowError } from '../errors/sandflow-error.js';
import { ownUser } from './owner.js';

/**
 * @param name the file as the message begins with it: its path, and what it is
 * @param cause the error of opening it
 */
export async function unreadable(name: string, path: string, cause: unknown): Promise<SandflowError> {
  return new SandflowError('bad_configuration', `${name} cannot be read${await why(path)}.`, { cause });
}

async function why(path: string): Promise<string> {
  const user = ownUser();
  if (user === undefined) return '';
  const found = await stat(path).catch(() => undefined);
  if (!found) return ` by user ${user}: a folder on its path is closed to this user`;
  const mode = (found.mode & 0o7777).toString(8);
  const owner = `it belongs to user ${found.uid} and group ${found.gid}, with mode ${mode}`;
  const mend = `Run \`chown ${user} ${path}\`, or \`chgrp ${process.getegid?.()} ${path}; chmod 440 ${path}\``;
  return ` by user ${user}: ${owner}. ${mend}`;
}

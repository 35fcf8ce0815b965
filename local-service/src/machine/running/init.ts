/**
 * The first program of each running sandbox. It starts every command of the sandbox, so a command has exactly the
 * restrictions and namespaces with which the sandbox was built, and no process with more rights ever enters a sandbox.
 *
 * Each line of its input says where the pipes of a command are. It ends at the end of its input, which is also the end
 * of the service. The sandbox ends with it. Its shell is a copy that nobody may read. For the kernel, such a program is
 * off limits to the other processes of the sandbox, although they run as the same user: they cannot trace it, nor open
 * its descriptors.
 */
import { chmod, copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { removeTree } from '../disk/copy-tree.js';

/** Where a sandbox sees the folder of `writeInit`. */
const initFolder = '/run/init';
/** Where a sandbox sees the folders with the pipes of its commands. It cannot change them. */
const pipesFolder = '/run/machine';

export const shownPipes = (name: string): string => `${pipesFolder}/${name}`;

/**
 * Signals that other processes of the sandbox send to all, such as `kill -TERM -1`, do not end it. `setsid` starts a
 * shell in its own session and does not wait for it. Its exit code is 1 if it cannot fork, as in a sandbox full of
 * processes. Then the pipe `status` ends without a report, and the service need not wait for one.
 *
 * @param pipes the folder of the folders with the pipes of commands
 */
export const initScript = (pipes: string): string => `trap 'caught=1' HUP INT QUIT TERM USR1 USR2 ALRM
while :; do
  caught=
  read -r command || { [ "$caught" ] && continue; exit; }
  setsid -f /bin/sh "${pipes}/$command/script" </dev/null >/dev/null 2>&1
  [ $? = 1 ] && echo >"${pipes}/$command/status"
done
`;

/**
 * Writes the files of the first program into `folder`, which it empties first.
 * @returns bubblewrap's arguments that show them in a sandbox
 */
export async function writeInit(folder: string): Promise<string[]> {
  await removeTree(folder);
  await mkdir(folder, { mode: 0o700 });
  // The name of the copy matters: some programs are a shell only under that name.
  const shell = join(folder, 'sh');
  await copyFile('/bin/sh', shell);
  await chmod(shell, 0o111);
  await writeFile(join(folder, 'main'), initScript(pipesFolder), { mode: 0o644 });
  return ['--ro-bind', folder, initFolder];
}

/** The command line of the first program, as a sandbox sees it. */
export const initCommand = [`${initFolder}/sh`, `${initFolder}/main`];

/** Programs that it needs, for a test of whether a sandbox can work here. */
export const initTest = 'setsid -f true';

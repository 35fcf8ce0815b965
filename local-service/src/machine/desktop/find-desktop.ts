/** What this machine needs for the desktops of sandboxes, and what of it is missing. */
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { findProgram } from '../program.js';

/** The viewer of the desktop in a browser. */
export const viewerFolder = '/usr/share/novnc';
const programs = [
  ['Xvnc', 'tigervnc-standalone-server'],
  ['openbox', 'openbox'],
] as const;

export interface DesktopSupport {
  /** Packages of Debian that are not installed. Empty if a sandbox can have a desktop. */
  readonly missing: readonly string[];
  /** Why no package would help; undefined if it would. */
  readonly problem?: string | undefined;
}

export const supportsDesktop = ({ missing, problem }: DesktopSupport): boolean =>
  missing.length === 0 && problem === undefined;

/** @param options.hasOwnNetwork false if sandboxes share a network, in which all of them could reach each desktop */
export async function findDesktop({
  programPath,
  viewer = viewerFolder,
  hasOwnNetwork,
}: {
  readonly programPath: string;
  readonly viewer?: string;
  readonly hasOwnNetwork: boolean;
}): Promise<DesktopSupport> {
  const missing: string[] = [];
  for (const [name, from] of programs) if (!(await findProgram(name, programPath))) missing.push(from);
  const hasViewer = await access(join(viewer, 'core/rfb.js')).then(
    () => true,
    () => false,
  );
  if (!hasViewer) missing.push('novnc');
  const problem = 'A desktop requires that each sandbox is isolated and has its own network.';
  return { missing, ...(hasOwnNetwork ? {} : { problem }) };
}

/** @returns how a user calls this program. `npx` runs one that is not on the PATH. */
export function calledAs(programPath: string): string {
  return programPath.endsWith('/node_modules/.bin/sandflow') ? 'npx sandflow' : 'sandflow';
}

/** The first words of the commands that this program suggests next, so that they work where they are read. */
export const programName = calledAs(process.argv[1] ?? '');

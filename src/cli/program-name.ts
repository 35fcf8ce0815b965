/** @returns how a user calls this program. `npx` runs one that is not on the PATH. */
export function calledAs(programPath: string): string {
  return programPath.endsWith('/node_modules/.bin/sandflow') ? 'npx sandflow' : 'sandflow';
}

/** The first words of the commands that this program suggests, so that they work where they are read. */
export const programName = calledAs(process.argv[1] ?? '');

/** The commands that messages of other parts name. */
const named =
  /(?<![\w/.@-]|npx )sandflow (?=(?:run|continue|fanout|jobs|schedule|stops?|worker|bridge|local|up|down|webhooks|encryption)(?![\w-]))/g;

/** Other parts, which a program may use without the command line, name its commands as those of an installed one. */
export function asCalled(message: string, name = programName): string {
  return message.replace(named, `${name} `);
}

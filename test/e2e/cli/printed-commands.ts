/** Reads the commands that a page prints, for tests that run them. */

/**
 * The arguments of each `sandflow` of a shell block.
 * @param values replace the placeholders, such as JOB
 * @throws Error for a line that is another program
 */
export function commandsIn(block: string, values: Readonly<Record<string, string>> = {}): string[][] {
  return block
    .trim()
    .split('\n')
    .map((line) => {
      const words = [...line.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)];
      const [program, ...args] = words.map(([, single, double, word]) => single ?? double ?? word ?? '');
      if (program !== 'sandflow') throw new Error(`This is not a command of sandflow: ${line}`);
      return args.map((arg) => values[arg] ?? arg);
    });
}

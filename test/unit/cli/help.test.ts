import { describe, expect, it } from 'vitest';
import { examples } from '../../../src/cli/examples.js';
import { commandNames, grammarProblems, groupNames } from '../house/cli-grammar.js';
import { cli } from './in-process.js';

/** Fails the test if a command reads its settings. */
const unreachable = () => Promise.reject(new Error('the settings were read'));
const run = (...args: string[]) => cli(args, { readConfig: unreachable });

describe('help', () => {
  it.each([...new Set([...groupNames(), ...commandNames()])])(
    '%s has an example, and no empty default',
    async (name) => {
      const { exitCode, stdout } = await run(...name.split(' '), '--help');
      expect(exitCode).toBe(0);
      expect(stdout.match(/^Examples:$/gm)).toHaveLength(1);
      expect(stdout).not.toContain('(default: [])');
    },
  );

  it.each(['run', 'fanout'])('%s shows at most 20 options, and all of them with --help-all', async (name) => {
    const shown = async (page: string): Promise<readonly string[]> =>
      (await run(name, page)).stdout.split(/^(?:Commands|Items|Examples):$/m)[0]?.match(/^ {2}(?:-\w, )?--[\w-]+/gm) ??
      [];
    const [few, all] = [await shown('--help'), await shown('--help-all')];
    expect(few.length).toBeLessThanOrEqual(20);
    expect(all.filter((option) => few.includes(option))).toHaveLength(few.length);
    expect(all.length).toBeGreaterThan(30);
  });

  it.each(['schedule add', 'stop', 'stops sweep'])('%s has no line of more than 80 columns', async (name) => {
    const { stdout } = await run(...name.split(' '), '--help');
    expect(stdout.split('\n').filter((line) => line.length > 80)).toEqual([]);
  });

  it('has only examples that the grammar accepts', () => {
    const wrong = Object.entries(examples).flatMap(([name, lines]) => {
      if (name !== 'help' && ![...groupNames(), ...commandNames()].includes(name))
        return [`there is no command ${name}`];
      return lines.flatMap((line) => {
        const words = line.slice(line.indexOf('sandflow ') + 'sandflow '.length).split(/ {2,}| [>|] /)[0] ?? '';
        return words.startsWith('help') ? [] : grammarProblems(words.split(' '));
      });
    });
    expect(wrong).toEqual([]);
  });

  it('lists the commands in groups, those of operators last, and fits on a screen of 40 lines', async () => {
    const { stdout } = await run('--help');
    const groups = [...stdout.matchAll(/^(\S.*):$/gm)].map(([, group]) => group);
    expect(groups).toEqual(['Jobs and batches', 'Sandboxes', 'This machine', 'For operators']);
    const lines = stdout.trimEnd().split('\n');
    expect(lines.length).toBeLessThanOrEqual(40);
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
    const operators = stdout.slice(stdout.indexOf('For operators:'));
    for (const name of ['worker', 'bridge', 'webhooks', 'encryption', 'cleanup'])
      expect(operators).toMatch(`\n  ${name} `);
  });

  it('prints the same page by help and --help, at any depth', async () => {
    const page = await run('jobs', 'show', '--help');
    expect(await run('help', 'jobs', 'show')).toEqual(page);
    expect(await run('help')).toEqual(await run('--help'));
  });

  it('shows no defaults for options that keep the values of the batch', async () => {
    const { stdout } = await run('fanout', 'resume', '--help');
    for (const wrong of ['(default: 20)', '(default: 0)', '(default: 1d)', 'abandon)', 'so that no work is lost']) {
      expect(stdout).not.toContain(wrong);
    }
    expect(stdout).toMatch(/What is not given stays: an item runs with what it last ran\nwith/);
  });

  it.each([
    [['jobs', 'lst'], 'Did you mean list?'],
    [['jbos'], 'Did you mean jobs?'],
    [['local', 'lgo'], 'Too many arguments'],
    [['help', 'nosuch'], "Unknown command 'nosuch'. See sandflow --help."],
    [['help', 'jobs', 'shwo'], "Unknown command 'jobs shwo'. See sandflow jobs --help."],
    [['run', '--provder', 'codex', 'x'], 'Did you mean --provider?) See sandflow run --help.'],
    [['jobs', 'show'], 'See sandflow jobs show --help.'],
  ])('%j suggests the command, and names its help', async (args, message) => {
    const { exitCode, stderr } = await cli(args);
    expect(exitCode).toBe(2);
    expect(stderr).toContain(message);
  });
});

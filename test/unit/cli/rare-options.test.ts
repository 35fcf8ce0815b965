import { Command, CommanderError } from 'commander';
import { describe, expect, it } from 'vitest';
import { helpStyle } from '../../../src/cli/help.js';
import { addHelpAll, rare } from '../../../src/cli/rare-options.js';

/** A program whose command `bake` has two common options and two rare ones, and whose `bake again` has one rare one. */
function bakery() {
  let printed = '';
  const program = new Command('shop')
    .configureHelp(helpStyle)
    .exitOverride()
    .enablePositionalOptions()
    .configureOutput({
      writeOut: (text) => {
        printed += text;
      },
      outputError: () => undefined,
    });
  const bake = program
    .command('bake')
    .option('--cake <name>', 'what to bake')
    .addOption(rare(program.createOption('--sieve <width>', 'width of the sieve').choices(['1', '2'])))
    .addOption(rare(program.createOption('--no-salt', 'without salt')))
    .option('--quiet', 'print warnings only')
    .action(() => undefined);
  bake.command('again').addOption(rare(program.createOption('--colder', 'with less heat')));
  program.command('sell').option('--price <amount>', 'the price');
  addHelpAll(program);
  const ask = async (...args: string[]) => {
    printed = '';
    const error: unknown = await program.parseAsync(args, { from: 'user' }).catch((thrown: unknown) => thrown);
    return { printed, error, exitCode: error instanceof CommanderError ? error.exitCode : undefined };
  };
  return { program, bake, ask };
}

const flagsIn = (page: string) => [...page.matchAll(/^ +(--[a-z-]+)/gm)].map(([, flag]) => flag);

describe('rare options', () => {
  it('are not on the page of --help, which names --help-all and how many options it adds', async () => {
    const { printed, exitCode } = await bakery().ask('bake', '--help');
    expect(exitCode).toBe(0);
    expect(flagsIn(printed)).toEqual(['--cake', '--quiet', '--help-all']);
    expect(printed.replace(/\s+/g, ' ')).toContain(
      '--help-all print help with 2 more options, which may also stand in a job file',
    );
  });

  it('are on the page of --help-all, below the common ones', async () => {
    const { printed, exitCode } = await bakery().ask('bake', '--help-all');
    expect(exitCode).toBe(0);
    expect(flagsIn(printed)).toEqual(['--cake', '--quiet', '--help-all', '--sieve', '--no-salt']);
    expect(printed).toContain('\nRarely needed:\n');
  });

  it('are on the page of --help-all beside other options and arguments, also of a subcommand', async () => {
    const { ask } = bakery();
    expect(flagsIn((await ask('bake', '--cake', 'plum', '--help-all', 'again')).printed)).toContain('--sieve');
    expect(flagsIn((await ask('bake', 'again', '--help-all')).printed)).toContain('--colder');
  });

  it('make no --help-all for a command that has none', async () => {
    const { printed } = await bakery().ask('sell', '--help');
    expect(flagsIn(printed)).toEqual(['--price']);
    expect((await bakery().ask('sell', '--help-all')).error).toMatchObject({ code: 'commander.unknownOption' });
  });

  it('are parsed like all others', async () => {
    const { bake, ask } = bakery();
    expect((await ask('bake', '--sieve', '3')).error).toMatchObject({ code: 'commander.invalidArgument' });
    expect((await ask('bake', '--sieve', '2', '--no-salt')).exitCode).toBeUndefined();
    expect(bake.opts()).toEqual({ sieve: '2', salt: false });
  });

  it('are suggested for a misspelled one', async () => {
    const { ask } = bakery();
    expect((await ask('bake', '--siev', '2')).error).toMatchObject({ message: expect.stringContaining('--sieve') });
  });
});

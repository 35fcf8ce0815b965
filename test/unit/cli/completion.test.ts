import { execFileSync, spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { cli } from './in-process.js';
import { temporaryDirectory } from './temporary-directory.js';

const script = async (shell: string, env = {}) => (await cli(['completion', shell], { env })).stdout;

/** What bash offers for the last word. */
async function offered(...words: string[]): Promise<string[]> {
  const program = `${await script('bash')}
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _sandflow; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const text = execFileSync('bash', ['-c', program, 'bash', 'sandflow', ...words], { encoding: 'utf8' });
  return text.split('\n').filter((word) => word !== '');
}

describe('completion in bash', () => {
  it('offers commands, and the commands below a command', async () => {
    expect(await offered('')).toEqual(expect.arrayContaining(['run', 'fanout', 'jobs', 'doctor', 'help']));
    expect(await offered('jo')).toEqual(['jobs']);
    expect(await offered('jobs', 'l')).toEqual(expect.arrayContaining(['list']));
  });

  it('offers the options of the command, wherever they stand', async () => {
    expect(await offered('jobs', 'list', '--fa')).toEqual(['--failed']);
    expect(await offered('run', 'hello.md', '--json', '--eff')).toEqual(['--effort']);
    expect(await offered('--vers')).toEqual(['--version']);
  });

  it('offers the values of an option, and files where any value is possible', async () => {
    expect(await offered('run', '--then', '')).toEqual(['stop', 'delete', 'keep']);
    expect(await offered('run', '--put', '')).toEqual([]);
    expect(await offered('run', '')).toEqual([]);
  });

  it("contains the names of the user's profiles", async () => {
    const home = await temporaryDirectory();
    await writeFile(join(home, 'config.json'), '{"profiles": {"work": {}, "home": {}}}', { mode: 0o600 });
    expect(await script('bash', { SANDFLOW_HOME: home })).toContain("' run --profile') words='work home' ;;");
  });

  it('does not offer hidden commands', async () => {
    expect(await offered('super')).toEqual([]);
  });
});

describe.each(['bash', 'zsh', 'fish'])('the script for %s', (shell) => {
  it.skipIf(spawnSync(shell, ['--version']).error !== undefined)('has no syntax error', async () => {
    const file = join(await temporaryDirectory(), 'completion');
    await writeFile(file, await script(shell));
    expect(spawnSync(shell, ['-n', file], { encoding: 'utf8' })).toMatchObject({ status: 0, stderr: '' });
  });
});

it('an unknown shell is refused with the known ones', async () => {
  expect(await cli(['completion', 'tcsh'])).toMatchObject({
    exitCode: 2,
    stderr: expect.stringMatching(/bash, zsh, fish/),
  });
});

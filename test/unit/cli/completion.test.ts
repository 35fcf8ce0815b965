import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { cli } from './in-process.js';

async function completed(line: string): Promise<string[]> {
  const { stdout } = await cli(['completion', 'bash']);
  const words = line.split(' ');
  const ask = `COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _sandflow; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const printed = execFileSync('bash', ['-c', `${stdout}\n${ask}`], { encoding: 'utf8' });
  return printed.split('\n').filter((word) => word !== '');
}

describe('the script of `completion bash`', () => {
  it.each([
    ['sandflow jo', ['jobs']],
    ['sandflow jobs wat', ['watch']],
    ['sandflow jobs watch my-job --watch', ['--watch-deadline']],
    ['sandflow fanout res', ['resume', 'results']],
    // A prompt or an id that is also the name of a command is no command.
    ['sandflow exec bx_2345abcd --cw', ['--cwd']],
    // The shell completes the names of files.
    ['sandflow run task', []],
    ['sandflow fanout watch nightly -- --qui', []],
  ])('completes %j', async (line, words) => {
    expect(await completed(line)).toEqual(words);
  });

  it('knows every command of the first level', async () => {
    expect(await completed('sandflow ')).toEqual(expect.arrayContaining(['run', 'fanout', 'stop', 'cp', 'completion']));
  });
});

it('another shell is refused, by naming the one that has a script', async () => {
  const { exitCode, stderr } = await cli(['completion', 'fish']);
  expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: expect.stringContaining('sandflow completion bash') });
});

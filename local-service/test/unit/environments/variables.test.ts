import { describe, expect, test } from 'vitest';
import { maxVariableBytes, variablesIn } from '../../../src/environments/variables.js';

const read = (text: string) => Object.fromEntries(variablesIn(text));

describe('the text of an environment', () => {
  test.each([
    ['blank lines and comments are skipped', '\n# A=1\n  # B=2\n\t\nC=3\n', { C: '3' }],
    ['export is left out', 'export A=1\n export\tB=2', { A: '1', B: '2' }],
    ['export may be a name', 'export=1', { export: '1' }],
    ['a value may hold =', 'URL=postgres://u:p@h/db?a=b=c', { URL: 'postgres://u:p@h/db?a=b=c' }],
    ['white space around = and the value is left out', ' A = one two \t', { A: 'one two' }],
    ['a comment begins at white space and #', 'A=1 # one\nB=#fff\nC=a#b\nD=x\t#y', { A: '1', B: '', C: 'a#b', D: 'x' }],
    ['a value may be empty', 'A=\nB=\'\'\nC=""', { A: '', B: '', C: '' }],
    ['single quotes keep everything', 'A=\'a "b" # c \\n $HOME\'', { A: 'a "b" # c \\n $HOME' }],
    ['double quotes know escapes', 'A="1\\n2\\t\\"x\\" \\\\ \\$H \\q \'y\'"', { A: '1\n2\t"x" \\ $H \\q \'y\'' }],
    ['quoted values may have lines', 'A="1\n# 2\r\n3" # end\nB=\'x\ny\'\nC=4', { A: '1\n# 2\n3', B: 'x\ny', C: '4' }],
    ['nothing is expanded', 'A=$HOME:$B', { A: '$HOME:$B' }],
    ['all line ends are known', 'A=1\r\nB=2\rC=3', { A: '1', B: '2', C: '3' }],
    ['a byte order mark is no part of a name', '\uFEFFA=1', { A: '1' }],
    ['the last of a name wins', 'A=1\nA=2', { A: '2' }],
    [
      'names of every object are names like others',
      '__proto__=1\nconstructor=2',
      Object.fromEntries([
        ['__proto__', '1'],
        ['constructor', '2'],
      ]),
    ],
    ['a separator of lines in a comment is part of it', 'A=1 # x\u2028y', { A: '1' }],
  ])('%s', (_what, text, expected) => {
    expect(read(text)).toEqual(expected);
  });

  test.each([
    ['a line without =', 'A=1\nsecret-word', 2],
    ['a name that no variable has', 'A=1\n\n1B=secret-word', 3],
    ['a name with a dot', 'a.b=secret-word', 1],
    ['no name', '=secret-word', 1],
    ['export without a value', 'export A', 1],
    ['an open quote (line of its start)', 'A=1\nB="secret-word\nC=2\n', 2],
    ['text after a closing quote (its line)', 'A="x\ny" secret-word', 2],
    ['a quote in the middle of another value', "A='a'secret-word", 1],
    ['a NUL character', 'A=secret-word\0', 1],
    ['a value that no program can be started with', `A=1\nB=${'x'.repeat(maxVariableBytes + 1)}`, 2],
  ])('is refused with the line number and without its content: %s', (_what, text, line) => {
    let refusal: unknown;
    try {
      variablesIn(text);
    } catch (cause) {
      refusal = cause;
    }
    expect(refusal).toMatchObject({ status: 400, message: expect.stringContaining(`line ${line} `) });
    expect(String(refusal)).not.toContain('secret-word');
  });
});

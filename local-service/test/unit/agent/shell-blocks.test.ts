import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fencedBlocks, shellBlocks } from '../../../src/agent/shell-blocks.js';

describe('the shell blocks of a prompt', () => {
  it.each([
    ['labelled sh, bash or shell', '```sh\na\n```\n~~~bash\nb\n~~~\n```SHELL\nc\n```', ['a\n', 'b\n', 'c\n']],
    ['not those with another label or none', '```\na\n```\n```js\nb\n```\n```shell-session\nc\n```', []],
    ['with more words after the label', '```sh title="x"\na\n```\n``` \tbash\nb\n```', ['a\n', 'b\n']],
    [
      'until a fence of the same kind that is at least as long',
      '````sh\n```\n~~~~\n```` x\n`````\nb',
      ['```\n~~~~\n```` x\n'],
    ],
    ['open until the end if nothing closes them', 'Do:\n```sh\na\n\nb', ['a\n\nb\n']],
    ['empty ones too', '```sh\n```', ['']],
    ['indented by up to three spaces, which their lines lose', '   ```sh\n   a\n     b\n c\n  ```', ['a\n  b\nc\n']],
    ['not those indented by four, which are text', '    ```sh\n    a\n    ```', []],
    ['not closed by a fence that is indented by four', '```sh\n    ```\na\n```', ['    ```\na\n']],
    ['not opened by inline code', '```sh `x` ```\na', []],
    ['opened by tildes whose label line has backticks', '~~~sh `x`\na\n~~~', ['a\n']],
    ['not opened by two marks', '``sh\na\n``', []],
    ['not inside a block of another kind', '```text\n~~~sh\na\n~~~\n```', []],
    ['with the line ends of Windows', '```sh\r\na\r\nb\r\n```\r\n', ['a\nb\n']],
  ])('are %s', (_title, markdown, blocks) => {
    expect(shellBlocks(markdown)).toEqual(blocks);
  });

  const line = fc.string({ unit: fc.constantFrom('`', '~', ' ', 's', 'h', '\t', '\\', 'é'), maxLength: 8 });
  const lines = fc.array(line, { maxLength: 12 });

  it('are found exactly as written, whatever their content', () => {
    const block = fc.record({
      content: lines,
      mark: fc.constantFrom('`', '~'),
      indentation: fc.nat(3),
      prose: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(block, { maxLength: 4 }), (blocks) => {
        const written = blocks.map(({ content, mark, indentation, prose }) => {
          // Longer than anything in the content.
          const fence = ' '.repeat(indentation) + mark.repeat(9);
          const inner = content.map((text) => `${' '.repeat(indentation)}${text}\n`).join('');
          return `${prose ? 'Some words.\n' : ''}${fence}sh\n${inner}${fence}\n`;
        });
        const expected = blocks.map(({ content }) => content.map((text) => `${text}\n`).join(''));
        expect(shellBlocks(written.join(''))).toEqual(expected);
      }),
    );
  });

  it('contain only lines of the prompt, in their order', () => {
    fc.assert(
      fc.property(lines, (all) => {
        const prompt = all.join('\n');
        let position = 0;
        for (const content of fencedBlocks(prompt).flatMap((found) => found.content.split('\n').slice(0, -1))) {
          const index = all.findIndex((candidate, at) => at >= position && candidate.endsWith(content));
          expect(index).toBeGreaterThanOrEqual(position);
          position = index + 1;
        }
      }),
      { numRuns: 500 },
    );
  });
});

import { describe, expect, it } from 'vitest';
import { finish } from '../../../../src/cli/output/finish.js';
import { oneLine, setIn, shownText } from '../../../../src/cli/output/terminal-safe.js';
import { agentLines, createRepeats } from '../../../../src/cli/output/transcript-entry.js';
import { jobResult, promptResult } from './sample-job.js';

describe('what an agent writes for a terminal', () => {
  it.each([
    ['colours', '\u001b[32mPASS\u001b[0m 3 of 3', 'PASS 3 of 3'],
    ['a progress bar', '10 %\r50 %\r100 %\r\nnext', '100 %\nnext'],
    ['a bar whose return comes last', ' 10 %\r 100 %\r', ' 100 %'],
    ['a bar that clears its line', 'a\r\u001b[2Kb\r\u001b[Kdone', 'done'],
    ['a link and a title', '\u001b]8;;http://h.example/\u001b\\text\u001b]8;;\u0007\u001b]0;title\u0007', 'text'],
    ['a character set', '\u001b(Bplain\u001b=', 'plain'],
    ['lines that end in CRLF', 'a\r\n\r\nb\r\n', 'a\n\nb\n'],
    ['a sequence without its end', 'a\u001b[', 'a'],
    ['a title without its end', 'a\u001b]0;b\nc', 'a0;b\nc'],
    ['a sequence inside another', 'a\u001b\u001b[0m[2Jb', 'a\ufffd[2Jb'],
  ])('is shown as text: %s', (_, written, shown) => {
    expect(shownText(written)).toBe(shown);
  });

  it('is read in linear time', () => {
    for (const part of ['\u001b]', '\u001b', '\u009b', '\r', '\u001b[0', '\r\n']) {
      expect(shownText(part.repeat(500_000)).length).toBeLessThanOrEqual(part.length * 500_000);
    }
  });

  it('is one short line in a transcript, and its repetition is still recognized', () => {
    const output = '\u001b[2K1 of 2\r2 of 2\r\n\u001b[32mPASS\u001b[0m\n';
    const command = { kind: 'command', at: null, prompt: 1, command: 'npm test', exitCode: 1, output } as const;
    expect(agentLines(command)).toEqual(['$ npm test (exit 1)', '2 of 2', 'PASS']);
    const isRepeated = createRepeats();
    expect(isRepeated(command)).toBe(false);
    expect(isRepeated({ kind: 'message', at: null, prompt: 1, text: '\u001b[32mPASS\u001b[0m' })).toBe(true);
  });

  it('is text in tables and sentences, and takes no words of a sentence along', () => {
    expect(oneLine('exit 3: \u001b[31mFAIL\u001b[0m\ta')).toBe('exit 3: FAIL a');
    expect(setIn('exit 3:\n\u001b[1;31mFAIL')).toBe('exit 3:\n  FAIL');
    expect(oneLine('\u001b]0; failed because of \u0007')).toContain(' failed because of ');
  });

  it.each([
    [true, 'PASS\n'],
    [false, '1\r\u001b[32mPASS\u001b[0m\n'],
  ])('is printed as an answer (on a terminal: %s), raw in a pipe', async (isTTY, printed) => {
    const out: (string | Uint8Array)[] = [];
    const io = {
      stdout: { isTTY, write: (text: string | Uint8Array) => out.push(text) },
      stderr: { write: () => true },
    };
    const result = { ...jobResult, prompts: [promptResult({ result: '1\r\u001b[32mPASS\u001b[0m' })] };
    const options = { jobId: 'j', json: false, quiet: true, files: [], readWhole: async () => Buffer.from('') };
    await finish({ kind: 'ended', result }, io, options);
    expect(out.map((text) => Buffer.from(text).toString()).join('')).toBe(printed);
  });
});

/** The command line of `sandflow-local-service`. Tier: gate, a moment. */
import { expect, test } from 'vitest';
import { readOptions } from '../../../src/program/options.js';

const given = ['--directory', 'here'];

test('only the directory is needed', () => {
  expect(readOptions(given)).toEqual({
    ...{ directory: 'here', port: 7391, faults: false, readyJson: false },
    ...{ apiKeyFile: undefined, config: undefined, configIfPresent: undefined, assume: undefined, announce: undefined },
  });
});

test.each([
  [['--help'], 'help'],
  [['--version'], 'version'],
  [['--port', 'x', '--help'], 'help'],
])('%j asks for the %s', (args, asked) => expect(readOptions(args)).toBe(asked));

test.each([
  [[], '--directory is missing.'],
  [['--directory', ''], '--directory: give a value.'],
  [[...given, '--config='], '--config: give a value.'],
  [['--directory=~/here'], '--directory begins with ~, which is not expanded here.'],
  [[...given, '--config', '"a"'], '--config begins with a quotation mark'],
  [[...given, '--api-key-file', 'key\r'], '--api-key-file ends with a line end.'],
  [[...given, '--port', '65536'], '--port: "65536" is not a port, from 0 to 65535.'],
  [[...given, '--port', '-1'], 'argument is ambiguous'],
  [[...given, '--port', ' 1'], '--port: " 1" is not a port, from 0 to 65535.'],
  [[...given, '--faults=yes'], "Option '--faults' does not take an argument"],
  [[...given, '--fault'], "Unknown option '--fault'"],
  [[...given, 'other'], "Unexpected argument 'other'"],
])('%j is refused: %s', (args, message) => {
  expect(() => readOptions(args)).toThrow(
    expect.objectContaining({ code: 'bad_usage', message: expect.stringContaining(message) }),
  );
});

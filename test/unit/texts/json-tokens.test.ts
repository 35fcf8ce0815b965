import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fieldsAsWritten, indentJson, parseWithTextNumbers } from '../../../src/texts/json-tokens.js';

describe('the tokens of JSON', () => {
  it('are indented as JSON.stringify does', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 4 }), fc.constantFrom(0, 1, 3), (text, blanks) => {
        const value: unknown = JSON.parse(text);
        expect(indentJson(JSON.stringify(value, null, blanks), 2)).toBe(JSON.stringify(value, null, 2));
      }),
    );
  });

  it('keep their digits', () => {
    const text = '{"a":[12345678901234567890,1.50,-0,12e45678],"b":{"c":"1.0"}}';
    expect(indentJson(text, 0).replaceAll(/\s/g, '')).toBe(text);
    expect(Object.fromEntries(fieldsAsWritten(text))).toEqual({
      a: '[12345678901234567890,1.50,-0,12e45678]',
      b: '{"c":"1.0"}',
    });
    expect(parseWithTextNumbers(text)).toEqual({
      a: ['12345678901234567890', '1.50', '-0', '12e45678'],
      b: { c: '1.0' },
    });
  });
});

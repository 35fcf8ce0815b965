import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { repeatedField } from '../../../src/texts/lost-fields.js';

describe('a field that occurs twice in one object of a JSON text', () => {
  it.each([
    ['{"a":1,"a":2}', 'a'],
    ['{"a":1,"\\u0061":2}', 'a'],
    ['[{"x":{"b":1,"c":[{}],"b":2}}]', 'b'],
    ['{"a":{},"b":[],"a":0}', 'a'],
    ['{"__proto__":1,"__proto__":2}', '__proto__'],
    ['{"":1,"":2}', ''],
  ])('is found in %s', (text, name) => {
    expect(repeatedField(text)).toBe(name);
  });

  it('is not found in the JSON of any value, where names and texts may be alike', () => {
    fc.assert(
      fc.property(fc.json(), fc.string({ unit: 'binary' }), (json, text) => {
        expect(
          repeatedField(JSON.stringify({ [text]: [JSON.parse(json), text, text], '\\"': '{"a":1,"a":2}' }, null, 1)),
        ).toBe(text === '\\"' ? text : undefined);
      }),
      { numRuns: 30 },
    );
  });
});

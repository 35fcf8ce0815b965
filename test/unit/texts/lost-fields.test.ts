import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { checkInput } from '../../../src/settings/input-problems.js';
import { lostFields, repeatedField } from '../../../src/texts/lost-fields.js';

describe('a field named __proto__', () => {
  it('is found at any depth, in a value with cycles too', () => {
    const value = JSON.parse('{"a":[{"__proto__":1},{"b":{"__proto__":{"__proto__":2}}}],"constructor":3}');
    value.a[0].self = value;
    expect(lostFields(value)).toHaveLength(3);
    expect(lostFields(value)).toContainEqual(['a', 0, '__proto__']);
    expect(lostFields({ constructor: 1, toString: 2, bytes: Buffer.alloc(4) })).toEqual([]);
  });

  it('is refused in every input, because zod drops it without a word', () => {
    const names = z.object({ labels: z.record(z.string(), z.string()) });
    const value = JSON.parse('{"labels":{"__proto__":"x","constructor":"y"}}');
    expect(Object.keys(names.parse(value).labels), 'zod').toEqual(['constructor']);
    expect(checkInput(names, value).problems).toEqual([
      { path: ['labels', '__proto__'], message: 'is not allowed as a name', unknownField: false },
    ]);
  });
});

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

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { stableJson } from '../../../src/texts/stable-json.js';

const backwards = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(backwards);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([name, inner]) => [name, backwards(inner)]),
  );
};

it('has the same bytes for the same value, in whatever order its fields were set', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(JSON.parse(stableJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
      expect(stableJson(backwards(value))).toBe(stableJson(value));
    }),
  );
});

it('sorts fields at every depth, keeps the order of lists, and leaves out what is undefined', () => {
  expect(stableJson({ b: [{ d: 1, c: [3, 1, 2] }, null], a: undefined, A: 'x' })).toBe(
    '{"A":"x","b":[{"c":[3,1,2],"d":1},null]}',
  );
  expect(stableJson(JSON.parse('{"b":1,"__proto__":{"y":1,"x":2}}'))).toBe('{"__proto__":{"x":2,"y":1},"b":1}');
});

/** What people read about an input that does not fit. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { checkInput, fieldText, problemLine } from '../../../src/settings/input-problems.js';

const linesOf = (schema: z.ZodType, value: unknown) => checkInput(schema, value).problems?.map(problemLine);

describe('an input that fits', () => {
  it('is returned as the schema reads it', () => {
    expect(checkInput(z.object({ n: z.coerce.number() }), { n: '3' })).toEqual({ data: { n: 3 }, problems: null });
  });
});

describe('an input that does not fit', () => {
  it.each<[z.ZodType, unknown, string]>([
    [z.string(), undefined, 'is missing'],
    [z.enum(['a', 'b']), undefined, 'is missing'],
    [z.string(), 3, 'must be text, not 3'],
    [z.string(), null, 'must be text, not null'],
    [z.number(), '3', 'must be a number, not "3"'],
    [z.number(), Number.NaN, 'must be a number, not NaN'],
    [z.int(), 1.5, 'must be a whole number, not 1.5'],
    [z.boolean(), 'yes', 'must be true or false, not "yes"'],
    [z.array(z.string()), {}, 'must be a list, not an object'],
    [z.object({}), [], 'must be an object, not a list'],
    [z.record(z.string(), z.string()), true, 'must be an object, not true'],
    [z.null(), 'x', 'must be null, not "x"'],
    [z.date(), 'x', 'must be date, not "x"'],
    [z.string(), () => 1, 'must be text, not function'],
    [z.string(), 10n, 'must be text, not 10'],
    [z.literal('keep'), 'burn', 'must be keep, not "burn"'],
    [z.enum(['stop', 'keep', 'delete']), 'burn', 'must be stop, keep or delete, not "burn"'],
    [z.enum(['stop', 'keep']), 'x'.repeat(40), `must be stop or keep, not "${'x'.repeat(40)}"`],
    [z.enum(['stop', 'keep']), 'x'.repeat(41), 'must be stop or keep, not a text of 41 characters'],
    [z.string().min(1), '', 'must not be empty'],
    [z.string().min(2), 'a', 'must have at least 2 characters'],
    [z.string().max(1), 'ab', 'must have at most 1 characters'],
    [z.array(z.int()).min(1), [], 'must have at least 1 entry'],
    [z.array(z.int()).max(2), [1, 2, 3], 'must have at most 2 entries'],
    [z.set(z.int()).min(2), new Set([1]), 'must have at least 2 entries'],
    [z.number().min(1), 0, 'must be at least 1'],
    [z.number().gt(1), 1, 'must be more than 1'],
    [z.number().max(9), 10, 'must be at most 9'],
    [z.number().lt(9), 9, 'must be less than 9'],
    [z.url(), 'nonsense', 'must be a URL, like https://example.com/path'],
    [z.strictObject({}), { x: 1 }, 'x: unknown field'],
    [
      z.strictObject({ age: z.int(), name: z.string() }),
      { age: 1, name: 'a', x: 1 },
      'x: unknown field; the fields are age, name',
    ],
    [
      z.strictObject({ in: z.union([z.string(), z.strictObject({ a: z.int().optional() })]) }),
      { in: { b: 1 } },
      'in.b: unknown field; the fields are a',
    ],
    [z.string().refine(() => false, 'is not one of ours'), 'x', 'is not one of ours'],
  ])('%#: is told in words for people', (schema, value, line) => {
    expect(linesOf(schema, value)).toEqual([line]);
  });

  it('is told where: by names of fields and numbers of entries', () => {
    const schema = z.object({ rules: z.array(z.strictObject({ action: z.enum(['stop']) })) });
    const { problems } = checkInput(schema, { rules: [{ action: 'burn', when: 1, who: 2 }] });
    expect(problems).toEqual([
      { path: ['rules', 0, 'action'], message: 'must be stop, not "burn"', unknownField: false },
      { path: ['rules', 0, 'when'], message: 'unknown field; the fields are action', unknownField: true },
      { path: ['rules', 0, 'who'], message: 'unknown field; the fields are action', unknownField: true },
    ]);
    expect(problems?.map(({ path }) => fieldText(path))).toEqual(['rules[0].action', 'rules[0].when', 'rules[0].who']);
    expect([fieldText([]), fieldText([0]), fieldText(['a', 1, 2, 'b'])]).toEqual(['', '[0]', 'a[1][2].b']);
  });

  it('of several forms is told by the form that it resembles most', () => {
    const form = z.union([z.string(), z.object({ to: z.object({ name: z.string(), age: z.int() }) }), z.null()]);
    const schema = z.object({ by: form });
    expect(linesOf(schema, { by: { to: { name: 1, age: 'x' } } })).toEqual([
      'by.to.name: must be text, not 1',
      'by.to.age: must be a number, not "x"',
    ]);
    expect(linesOf(schema, { by: 3 })).toEqual(['by: must be text, not 3']);
  });
});

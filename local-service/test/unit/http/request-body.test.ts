import { expect, it } from 'vitest';
import { parseJsonBody } from '../../../src/http/parse-input.js';

it('a field that the service could not keep is refused', () => {
  expect(parseJsonBody('{"env":{"constructor":"x"}}')).toEqual({ env: { constructor: 'x' } });
  expect(() => parseJsonBody('{"env":{"__proto__":"x"}}')).toThrow('env.__proto__: is not allowed as a name.');
});

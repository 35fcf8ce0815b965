import { expect, it } from 'vitest';
import { calledAs } from '../../../src/cli/program-name.js';

it.each([
  ['/home/me/sandflow/node_modules/.bin/sandflow', 'npx sandflow'],
  ['/home/me/.npm/_npx/2a2a250b9996c7f2/node_modules/.bin/sandflow', 'npx sandflow'],
  ['/usr/local/bin/sandflow', 'sandflow'],
  ['/home/me/sandflow/dist/src/cli/main.js', 'sandflow'],
])('the program at %s is called as %s', (path, name) => {
  expect(calledAs(path)).toBe(name);
});

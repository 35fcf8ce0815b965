import { expect, it } from 'vitest';
import { isolationText, isolationWarnings } from '../../../src/machine/index.js';

it('does not claim that a sandbox has reached the internet, and warns of nothing', () => {
  const network = { kind: 'internet', wished: false, allowHost: ['127.0.0.1:5432'] } as const;
  const description = { isolation: 'bubblewrap', network, lacks: [] } as const;
  expect(isolationText(description)).toBe(
    'bubblewrap, its own network, which may reach the internet and can reach 127.0.0.1:5432 on this machine',
  );
  expect(isolationWarnings(description)).toEqual([]);
});

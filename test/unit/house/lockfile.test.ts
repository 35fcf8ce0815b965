import { describe, expect, test } from 'vitest';
import { readSource } from './source-imports.js';

interface LockedPackage {
  readonly version?: string;
  readonly integrity?: string;
  readonly resolved?: string;
  readonly link?: boolean;
}

const { packages } = JSON.parse(readSource('package-lock.json')) as {
  packages: Readonly<Record<string, LockedPackage>>;
};
const locked = Object.entries(packages).filter(([path]) => path !== '');

describe('C13: package-lock.json', () => {
  test('says of every package, those of other platforms included, what its content must be', () => {
    expect(locked.length).toBeGreaterThan(300);
    expect(locked.filter(([, { integrity = '' }]) => !integrity.startsWith('sha512-')).map(([path]) => path)).toEqual(
      [],
    );
  });

  test('takes packages from the registry that is configured, by the address of none but the public one', () => {
    const elsewhere = ({ resolved, link }: LockedPackage) =>
      link || (resolved !== undefined && !resolved.startsWith('https://registry.npmjs.org/'));
    expect(locked.filter(([, entry]) => elsewhere(entry)).map(([path]) => path)).toEqual([]);
  });
});

/** Regular expressions that a hostile text could make slow. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { repository } from './source-imports.js';

describe('a regular expression', () => {
  it('does not search for what is repeated at the end of a text', () => {
    // It is tried at each place, and each try reads all that is repeated: `/\n+$/` takes quadratic time.
    const open = /(?<=[\s(,=:?])\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^\\/[\n^])[+*]\$\/[a-z]*/g;
    const found = ['src', 'activities', 'workflows', 'local-service/src'].flatMap((folder) => {
      const root = join(repository, folder);
      return readdirSync(root, { recursive: true, encoding: 'utf8' })
        .filter((name) => /\.[jt]s$/.test(name))
        .flatMap((name) =>
          readFileSync(join(root, name), 'utf8')
            .split('\n')
            .filter((line) => !/^\s*(?:\/\/|\/?\*)/.test(line))
            .flatMap((line) => line.match(open) ?? [])
            .map((expression) => `${name}: ${expression}`),
        );
    });
    expect(found).toEqual([]);
  });

  it('is built from our own texts only', () => {
    const files = ['src', 'local-service/src'].flatMap((folder) =>
      readdirSync(join(repository, folder), { recursive: true, encoding: 'utf8' })
        .filter((name) => /\.[jt]s$/.test(name))
        .map((name) => `${folder}/${name}`),
    );
    const making = files.filter((name) => /\bRegExp\(/.test(readFileSync(join(repository, name), 'utf8')));
    // The alphabet of ids, the hours of a policy, the addresses of the contract, the characters of a terminal: all
    // constants. The characters of a secret, each escaped.
    expect(making.sort()).toEqual([
      'local-service/src/http/allowed-methods.ts',
      'local-service/src/http/surface.ts',
      'src/cli/output/terminal-safe.ts',
      'src/contract/workflow-safe/ids.ts',
      'src/retention/policy-schema.ts',
      'src/secrecy/known-secrets.ts',
    ]);
  });
});

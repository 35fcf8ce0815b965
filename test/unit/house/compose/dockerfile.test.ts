import { describe, expect, test } from 'vitest';
import { readSource } from '../source-imports.js';

describe('Dockerfile', () => {
  const text = readSource('Dockerfile');

  test('uses one Node, of the long-term release that is supported until 2028', () => {
    const images = [...text.matchAll(/^FROM node:(\d+)\.\d+-bookworm-slim/gm)].map(([, version]) => version);
    expect(images).toEqual(['24', '24']);
    expect(new Set(text.match(/^FROM node:\S+/gm)).size).toBe(1);
  });

  test('installs what isolates the sandboxes of the local service', () => {
    const [, installed = ''] = /apt-get install .*--no-install-recommends (.*) \\/.exec(text) ?? [];
    // iproute2 finds the names of protocols in netbase.
    expect(installed.split(' ')).toEqual(expect.arrayContaining(['bubblewrap', 'iproute2', 'netbase', 'slirp4netns']));
  });

  test('has `sandflow` on the path, and begins with it', () => {
    expect(text).toContain('ln -s /app/dist/src/cli/main.js /usr/local/bin/sandflow');
    expect(text).toContain('ENTRYPOINT ["sandflow"]');
  });

  test('starts where its user may write results', () => {
    expect([...text.matchAll(/^WORKDIR (\S+)$/gm)].at(-1)?.[1]).toBe('/home/node');
  });

  test('has the native part of Temporal for its own platform only', () => {
    expect(text).toMatch(/core-bridge\/releases .*! -name "\$\(uname -m\)-unknown-linux-gnu"/);
  });

  test('does not run as root', () => {
    expect([...text.matchAll(/^USER (\w+)$/gm)].at(-1)?.[1]).toBe('node');
  });

  test('copies everything that the build compiles, and nothing that .dockerignore excludes', () => {
    const { include } = JSON.parse(readSource('tsconfig.build.json')) as { include: string[] };
    const copied = [...text.matchAll(/^COPY (?!--)(.+) \S+$/gm)].flatMap(([, sources = '']) => sources.split(' '));
    expect(copied).toEqual(expect.arrayContaining(include));
    const kept = readSource('.dockerignore').split('\n');
    expect(copied.filter((source) => !kept.includes(`!${source}`))).toEqual([]);
  });
});

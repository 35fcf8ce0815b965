import { describe, expect, it } from 'vitest';
import { oldestNode, runtimeProblem } from '../../../src/cli/runtime.js';
import { importsIn, readSource } from '../house/source-imports.js';

describe('the check of the runtime', () => {
  it.each(['20.19.0', '20.20.2', '21.0.0', '22.12.0', '100.0.0'])('accepts Node %s', (node) => {
    expect(runtimeProblem({ node })).toBeUndefined();
  });

  it.each(['0.12.18', '14.21.3', '18.20.8', '20.18.3', '20.9.0'])('refuses Node %s in one sentence', (node) => {
    expect(runtimeProblem({ node })).toBe(
      `sandflow needs Node 20.19 or newer, and this is Node ${node}: install a newer one, for example from https://nodejs.org.`,
    );
  });

  it.each([
    ['Bun 1.4.5', { node: '24.3.0', bun: '1.4.5' }],
    ['Deno 2.9.6', { node: '24.2.0', deno: '2.9.6' }],
  ])('refuses %s, which says that it is a Node', (name, versions) => {
    expect(runtimeProblem(versions)).toBe(`sandflow needs Node 20.19 or newer, and this is ${name}: run it with node.`);
  });

  it('knows the Node that the package asks for', () => {
    expect(JSON.parse(readSource('package.json')).engines.node).toBe(`>=${oldestNode.join('.')}`);
  });

  it('is the first import of the library', () => {
    const [first] = importsIn('src/index.ts', readSource('src/index.ts'));
    expect(first?.target).toBe('src/cli/require-node.ts');
  });

  it('comes before every import of the program', () => {
    const atOnce = (file: string) => importsIn(file, readSource(file)).filter(({ isDynamic }) => !isDynamic);
    expect(atOnce('src/cli/main.ts').map(({ target }) => target)).toEqual(['src/cli/runtime.ts']);
    expect(importsIn('src/cli/runtime.ts', readSource('src/cli/runtime.ts'))).toEqual([]);
  });
});

/** Reads the imports of source files from their text. The formatter guarantees the format that this relies on. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';

export const repository = fileURLToPath(new URL('../../../', import.meta.url));

export interface ImportedModule {
  /** A path of this repository, such as `src/contract/workflow-safe/ids.ts`, or the specifier of a package or built-in module. */
  readonly target: string;
  readonly isOwn: boolean;
  /** True for `import type`, which leaves nothing in the compiled file. */
  readonly isTypeOnly: boolean;
  /** True for `import()`, which loads a module only when it is reached. */
  readonly isDynamic: boolean;
}

const statements = /^(?:import|export)\s+(type\s)?(?:[^;'"]*?\sfrom\s+)?'([^']+)';/gm;
const calls = /\bimport\('([^']+)'\)/g;

/** The modules that the file `path` imports, given its text. */
export function importsIn(path: string, text: string): ImportedModule[] {
  const found = [
    ...[...text.matchAll(statements)].map(([, type, specifier = '']) => ({
      specifier,
      isTypeOnly: Boolean(type),
      isDynamic: false,
    })),
    ...[...text.matchAll(calls)].map(([, specifier = '']) => ({ specifier, isTypeOnly: false, isDynamic: true })),
  ];
  return found.map(({ specifier, isTypeOnly, isDynamic }) => {
    const isOwn = specifier.startsWith('.');
    const target = isOwn ? posix.join(posix.dirname(path), specifier).replace(/\.js$/, '.ts') : specifier;
    return { target, isOwn, isTypeOnly, isDynamic };
  });
}

/** Every TypeScript file below the folders, relative to the repository, with forward slashes. */
export function sourceFiles(...folders: readonly string[]): string[] {
  return folders.flatMap((folder) =>
    readdirSync(join(repository, folder), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts'))
      .map((path) => posix.join(folder, path.replaceAll('\\', '/'))),
  );
}

/** The text of a file of the repository. */
export function readSource(path: string): string {
  return readFileSync(join(repository, path), 'utf8');
}

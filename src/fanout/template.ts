/** Fills the templates of prompts from columns: `Fix {{issue}} in {{file}}`. */
import { SandflowError } from '../errors/sandflow-error.js';

export interface Template {
  /** The columns that the template names. */
  readonly columns: readonly string[];
  /** @throws the error of `refuse` if a column is missing */
  fill(columns: ReadonlyMap<string, string>, refuse: (why: string) => Error): string;
}

const placeholder = /\{\{([^{}]*)\}\}/g;

/**
 * The name of a column is any text without braces. Blanks around the name are ignored.
 * @throws SandflowError `bad_items` if a placeholder has no name
 */
export function createTemplate(text: string): Template {
  const names = [...text.matchAll(placeholder)].map(([, name = '']) => name.trim());
  if (names.includes('')) {
    throw new SandflowError('bad_items', 'The template has {{}} without a name. Name a column: {{column}}.');
  }
  return {
    columns: [...new Set(names)],
    fill(columns, refuse) {
      for (const name of names) {
        if (columns.has(name)) continue;
        const known = [...columns.keys()].join(', ');
        throw refuse(`the template uses {{${name}}}, but there is no such column. The columns are ${known}.`);
      }
      return text.replace(placeholder, (_, name: string) => columns.get(name.trim()) ?? '');
    },
  };
}

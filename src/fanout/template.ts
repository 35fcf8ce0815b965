/** Fills the templates of prompts from columns: `Fix {{issue}} in {{file}}`. `{{{{x}}}}` stands for `{{x}}`. */
import { SandflowError } from '../errors/sandflow-error.js';

export interface Template {
  /** The columns that the template names. */
  readonly columns: readonly string[];
  /** @throws the error of `refuse` if a column is missing, or all that are named are empty */
  fill(columns: ReadonlyMap<string, string>, refuse: (why: string) => Error): string;
}

const placeholder = /\{\{(\{\{[^{}]*\}\})\}\}|\{\{([^{}]*)\}\}/g;

/** The names of columns in a text, without blanks around them. A name is any text without braces. */
export function namesIn(text: string): string[] {
  return [...text.matchAll(placeholder)].flatMap(([, , name]) => name?.trim() ?? []);
}

/** @throws SandflowError `bad_items` if a placeholder has no name */
export function createTemplate(text: string): Template {
  const names = namesIn(text);
  if (names.includes('')) {
    throw new SandflowError(
      'bad_items',
      'The template has {{}} without a name. Name a column: {{column}}. For the braces, write {{{{}}}}.',
    );
  }
  return {
    columns: [...new Set(names)],
    fill(columns, refuse) {
      for (const name of names) {
        if (columns.has(name)) continue;
        const known = [...columns.keys()].join(', ');
        const why = `the template uses {{${name}}}, but there is no such column. The columns are ${known}. For the braces, write {{{{${name}}}}}.`;
        throw refuse(why);
      }
      const filled = text.replace(placeholder, (_, kept?: string, name = '') => kept ?? columns.get(name.trim()) ?? '');
      if (filled.trim() === '') throw refuse('the template produces an empty text.');
      return filled;
    },
  };
}

/** Parses what a caller gives, with an error that names every wrong field. */
import type { z } from 'zod';
import { checkInput, problemLine } from '../settings/input-problems.js';

/** @throws the error from `refuse`, whose argument is a text that names every wrong field */
export function parseWith<Output>(schema: z.ZodType<Output>, value: unknown, refuse: (why: string) => Error): Output {
  const { data, problems } = checkInput(schema, value);
  if (problems === null) return data;
  throw refuse(problems.map(problemLine).join('; '));
}

/** Adds to what is wrong with an input those of these problems that there are, each of the field at its path. */
export function addProblems(
  context: z.RefinementCtx,
  problems: readonly (readonly [path: string, problem: string | false | undefined])[],
): void {
  for (const [path, message] of problems)
    if (message) context.addIssue({ code: 'custom', path: path.split('.'), message });
}

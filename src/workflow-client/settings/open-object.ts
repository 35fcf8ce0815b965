/** Objects that hold fields of a request. The specification leaves further fields open, and they are sent unchanged. */
import { z } from 'zod';
import { editsBetween } from '../../texts/edits.js';

/**
 * An object of these fields, and of any others. Refuses a field that looks like a misspelt one.
 * @param setBySandflow names of fields of the request that the object may not have
 */
export function openObject<Shape extends z.ZodRawShape>(shape: Shape, setBySandflow: readonly string[]) {
  return z
    .object(shape)
    .catchall(z.json().optional())
    .superRefine((value, context) => {
      for (const name of Object.keys(value)) {
        if (Object.hasOwn(shape, name)) continue;
        const meant = Object.keys(shape).find((known) => isMisspelt(name, known));
        const hint = meant === undefined ? 'sandflow sets this field itself' : `unknown field, did you mean ${meant}?`;
        if (meant !== undefined || setBySandflow.includes(name)) {
          context.addIssue({ code: 'custom', path: [name], message: hint });
        }
      }
    });
}

function isMisspelt(name: string, known: string): boolean {
  if (Math.abs(name.length - known.length) > 2) return false;
  return editsBetween(name.toLowerCase(), known.toLowerCase()) <= Math.min(2, known.length / 3);
}

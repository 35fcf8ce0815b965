import { ServiceError } from '../service-error.js';

/** No body of the contract goes deeper than a few; what compares and copies bodies walks them by calling itself. */
const maxDepth = 64;

/**
 * The JSON of a request body; undefined if there is none.
 * @throws ServiceError `invalid_json`
 */
export function parseJsonBody(text: string): unknown {
  if (text === '') return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new ServiceError(400, 'invalid_json', 'The body is not valid JSON.', { cause });
  }
  if (depthExceeds(value, maxDepth)) {
    throw new ServiceError(400, 'invalid_json', `The body is nested more than ${maxDepth} deep.`);
  }
  return value;
}

function depthExceeds(root: unknown, limit: number): boolean {
  let level = [root];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > limit) return true;
    level = level.flatMap((value) => (typeof value === 'object' && value !== null ? Object.values(value) : []));
  }
  return false;
}

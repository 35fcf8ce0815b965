/**
 * Checks a cron expression before anything is changed, because Temporal has no request that only checks. It takes less
 * than Temporal does, where Temporal reads another time than the words say. Pure.
 */

const monthNames = 'january february march april may june july august september october november december'.split(' ');
const dayNames = 'sunday monday tuesday wednesday thursday friday saturday'.split(' ');

interface Field {
  readonly name: string;
  readonly first: number;
  readonly last: number;
  /** Names of the values from `first` on. */
  readonly names?: readonly string[];
}

const fields: readonly Field[] = [
  { name: 'minute', first: 0, last: 59 },
  { name: 'hour', first: 0, last: 23 },
  { name: 'day of the month', first: 1, last: 31 },
  { name: 'month', first: 1, last: 12, names: monthNames },
  { name: 'day of the week', first: 0, last: 7, names: dayNames },
];

const words = '@hourly, @daily, @weekly, @monthly or @every 6h';
const wordPattern = /^@(yearly|annually|monthly|weekly|daily|midnight|hourly)$/;
const everyPattern = /^@every ([\d.]+(ms|s|m|h|d))+(\/([\d.]+(ms|s|m|h|d))+)?$/;

/**
 * @returns why an expression cannot be used: what follows its name. Undefined if nothing is wrong with it
 * @example
 * cronProblem('99 2 * * *'); // 'has the minute "99": use 0 to 59'
 */
export function cronProblem(cron: string): string | undefined {
  const given = cron.trim();
  if (/^(CRON_)?TZ=/.test(given)) return 'must not name a time zone: use the option of its own';
  // Temporal takes 1#2, the second Monday of other programs, as every Monday with a comment.
  if (given.includes('#')) return 'must not have a #: neither comments nor "the second Monday" are possible';
  if (given.startsWith('@')) {
    return wordPattern.test(given) || everyPattern.test(given) ? undefined : `has the word "${given}": use ${words}`;
  }
  const parts = given === '' ? [] : given.split(/\s+/);
  // With six fields, Temporal takes the last one as the year; other programs take the first one as the second.
  if (parts.length !== fields.length) {
    return `has ${parts.length} fields, but must have 5: minute, hour, day of the month, month, day of the week; or use ${words}`;
  }
  const wrong = fields.findIndex((field, at) => !parts[at]?.split(',').every((range) => fits(range, field)));
  const field = fields[wrong];
  return field && `has the ${field.name} "${parts[wrong]}": ${allowed(field)}`;
}

const rangePattern = /^(\*|\w+)(?:-(\w+))?(?:\/(\d+))?$/;

function fits(range: string, field: Field): boolean {
  const [, from = '', to = from, step = '1'] = rangePattern.exec(range) ?? [];
  // A longer step reaches no second value: */100 of the minutes is not every 100 minutes.
  if (Number(step) < 1 || Number(step) > field.last - field.first) return false;
  if (from === '*') return to === '*';
  const [first, last] = [numberOf(from, field), numberOf(to, field)];
  return first >= field.first && first <= last && last <= field.last;
}

/** NaN if it is neither a number nor the beginning of a name. */
function numberOf(text: string, { first, names = [] }: Field): number {
  if (/^\d+$/.test(text)) return Number(text);
  const at = text.length < 3 ? -1 : names.findIndex((name) => name.startsWith(text.toLowerCase()));
  return at < 0 ? Number.NaN : at + first;
}

function allowed({ first, last, names }: Field): string {
  const also = names ? `, or names such as ${names[0]?.slice(0, 3)}` : '';
  return `use ${first} to ${last}${also}, with *, commas, ranges such as ${first}-${first + 2}, or steps such as */2, up to ${last - first}`;
}

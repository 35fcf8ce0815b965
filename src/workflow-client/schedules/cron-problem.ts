/**
 * Refuses a cron expression that Temporal would read as another time than its words say. What Temporal itself refuses is
 * left to it. Pure.
 */

/** The longest step that reaches a second value, for each field: a step of 100 minutes would be once an hour. */
const longestSteps = [59, 23, 30, 11, 7];

/**
 * @returns why an expression cannot be used: what follows its name. Undefined if nothing of this kind is wrong with it
 * @example
 * cronProblem('0 0 2 * * 1'); // 'has 6 fields, but must have 5: …'
 */
export function cronProblem(cron: string): string | undefined {
  const given = cron.trim();
  if (/^(CRON_)?TZ=/.test(given)) return 'must not name a time zone: use the option of its own';
  // Temporal takes 1#2, the second Monday of other programs, as every Monday with a comment.
  if (given.includes('#')) return 'must not have a #: neither comments nor "the second Monday" are possible';
  if (given.startsWith('@')) return undefined;
  const fields = given === '' ? [] : given.split(/\s+/);
  // With six fields, Temporal takes the last one as the year; other programs take the first one as the second.
  if (fields.length !== longestSteps.length) {
    return `has ${fields.length} fields, but must have 5: minute, hour, day of the month, month, day of the week; or use @hourly, @daily, @weekly, @monthly or @every 6h`;
  }
  const at = longestSteps.findIndex((most, field) =>
    [...(fields[field] ?? '').matchAll(/\/(\d+)/g)].some(([, step]) => Number(step) > most),
  );
  return at < 0
    ? undefined
    : `has the step of "${fields[at]}", which reaches no second value: use at most ${longestSteps[at]}`;
}

/** Writes the times of schedules for people. */

/** A time in a time zone and in UTC: `2026-11-27 02:30 Europe/Vienna (01:30 UTC)`. */
export function inZone(at: string, zone: string): string {
  const utc = `${at.slice(0, 10)} ${clockOf(at.slice(11, 19))}`;
  if (zone === 'UTC') return `${utc} UTC`;
  const local = new Intl.DateTimeFormat('sv-SE', {
    timeZone: zone,
    ...{ year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit', second: '2-digit' },
  }).format(new Date(at));
  const [day = '', time = ''] = local.split(' ');
  const inUtc = day === at.slice(0, 10) ? clockOf(at.slice(11, 19)) : utc;
  return `${day} ${clockOf(time)} ${zone} (${inUtc} UTC)`;
}

/** Without seconds of 00. */
const clockOf = (time: string) => time.replace(/:00$/, '');

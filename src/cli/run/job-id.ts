/** A readable id for a job without `--id`. */
import { randomInt } from 'node:crypto';

const alphabet = '0123456789abcdefghijklmnopqrstuvwxyz';

/** The day and six random characters: `0317-k3x9ab`. */
export function generateJobId(now: Date = new Date()): string {
  const day = now.toISOString().slice(5, 10).replace('-', '');
  const random = Array.from({ length: 6 }, () => alphabet[randomInt(alphabet.length)]).join('');
  return `${day}-${random}`;
}

/** Draws faults of single calls. */
import type fc from 'fast-check';
import { allFaults, type FaultClass } from '../../slow/matrix/faults/faults.js';
import { often } from './draw-job.js';

const none = { sandbox: '', stop: '', prompt: '', conversation: '', snapshot: '', operation: '' };
const faultsOf = (...meant: readonly FaultClass[]) =>
  allFaults(none).flatMap(({ name, class: of }) => (meant.includes(of) ? [name] : []));
/** The call takes effect, or it does not: its caller cannot tell. */
export const lostAnswers = [
  'dropped-before',
  'dropped-after',
  'late',
  'hung',
  'page-502',
  'page-502-after',
  'truncated',
];
const pages = ['page-403', 'page-404', 'page-413', 'page-429', 'page-502', 'page-503'];
const garbage = ['garbage-text', 'garbage-array', 'garbage-empty', 'wrong-types', 'missing-ids', 'malformed-ids'];
/** The families of faults. Each is as frequent as the others, however many faults it has. */
export const faultFamilies: readonly fc.Arbitrary<string>[] = [
  often(...faultsOf('permanent', 'gone')),
  often(...faultsOf('wait_out', 'few_tries', 'throttled_shortly', 'unavailable')),
  often(...faultsOf('throttled_for_long', 'blocked')),
  often(...pages),
  often(...garbage),
  often('missing-ids', 'malformed-ids'),
  often('misrouted'),
  often('unknown-state', 'unknown-stop'),
  often(...lostAnswers),
];

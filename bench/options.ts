/** The command line of the bench. */
import { parseArgs } from 'node:util';

export const parts = ['jobs', 'waiting', 'running', 'followed', 'service', 'machines', 'downloads', 'fanout'] as const;
export type PartName = (typeof parts)[number];

export interface BenchOptions {
  readonly parts: readonly PartName[];
  /** Numbers of simultaneous jobs, with one measurement for each. */
  readonly jobs: readonly number[];
  readonly waiting: number;
  readonly cacheSize: number;
  readonly prompts: readonly number[];
  /** The number of prompts that are handed over to the follower. */
  readonly followed: number;
  /** How long a prompt is followed by an activity of its own, in seconds. Default: as long as the product does. */
  readonly young?: number;
  /** Numbers of sandboxes on the books of the local service, with one measurement for each. */
  readonly sandboxes: readonly number[];
  /** The number of machines of sandboxes. */
  readonly machines: number;
  /** Numbers of items of a batch, with one measurement for each. */
  readonly items: readonly number[];
  readonly quick: boolean;
  readonly outFile: string;
}

export const usage = `npm run bench -- [options]
  --quick              fewer rounds and smaller numbers: some minutes in place of a quarter of an hour
  --only LIST          parts to run, of ${parts.join(',')}
  --jobs LIST          jobs at once (default 1,100,500; quick 1,20)
  --waiting N          jobs that wait (default 5000; quick 500)
  --cache N            workflows that the worker keeps while they wait (default 800; quick 200)
  --prompts LIST       prompts that run (default 1,10,100,1000; quick 1,10,50)
  --followed N         prompts that the follower of prompts follows (default 1000; quick 50)
  --young N            seconds until a running prompt is handed over to the follower (default 180, as in production)
  --sandboxes LIST     sandboxes on the books (default 100,1000,10000; quick 100,1000)
  --machines N         machines of sandboxes at once (default 100; quick 20)
  --items LIST         items of a batch (default 100,1000; quick 20,60)
  --out FILE           where the numbers go as JSON (default bench/.out/results.json)
`;

/** @throws TypeError for an unknown flag, RangeError for an invalid value */
export function readOptions(args: readonly string[]): BenchOptions | 'help' {
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: 'boolean', default: false },
      only: { type: 'string' },
      jobs: { type: 'string' },
      waiting: { type: 'string' },
      cache: { type: 'string' },
      prompts: { type: 'string' },
      followed: { type: 'string' },
      young: { type: 'string' },
      sandboxes: { type: 'string' },
      machines: { type: 'string' },
      items: { type: 'string' },
      out: { type: 'string', default: 'bench/.out/results.json' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return 'help';
  const { quick } = values;
  const only = values.only?.split(',') ?? parts;
  const unknown = only.find((name) => !parts.some((part) => part === name));
  if (unknown !== undefined) throw new RangeError(`--only: there is no part "${unknown}"; parts: ${parts.join(', ')}.`);
  const [waiting = 0] = numbers('--waiting', values.waiting ?? (quick ? '500' : '5000'));
  const [cacheSize = 0] = numbers('--cache', values.cache ?? (quick ? '200' : '800'));
  const [followed = 0] = numbers('--followed', values.followed ?? (quick ? '50' : '1000'));
  const [machines = 0] = numbers('--machines', values.machines ?? (quick ? '20' : '100'));
  if (cacheSize >= waiting) throw new RangeError('--cache: must be less than --waiting, or nothing is replayed.');
  return {
    parts: parts.filter((part) => only.includes(part)),
    jobs: numbers('--jobs', values.jobs ?? (quick ? '1,20' : '1,100,500')),
    waiting,
    cacheSize,
    young: values.young === undefined ? undefined : numbers('--young', values.young)[0],
    prompts: numbers('--prompts', values.prompts ?? (quick ? '1,10,50' : '1,10,100,1000')).sort((a, b) => a - b),
    followed,
    sandboxes: numbers('--sandboxes', values.sandboxes ?? (quick ? '100,1000' : '100,1000,10000')).sort(
      (a, b) => a - b,
    ),
    machines,
    items: numbers('--items', values.items ?? (quick ? '20,60' : '100,1000')).sort((a, b) => a - b),
    quick,
    outFile: values.out,
  };
}

function numbers(flag: string, text: string): number[] {
  return text.split(',').map((part) => {
    const value = Number(part);
    if (Number.isInteger(value) && value > 0 && value <= 20_000) return value;
    throw new RangeError(`${flag}: "${part}" is not a whole number from 1 to 20000.`);
  });
}

/** The command line of the bench of peers. */
import { parseArgs } from 'node:util';
import type { Peer } from './peer.js';
import type { Delays } from './service/sandboxes.js';
import { allPeers } from './systems/all.js';

export interface PeerOptions {
  readonly peers: readonly Peer[];
  /** Numbers of simultaneous jobs; 1 is always measured. */
  readonly jobs: readonly number[];
  /** How many jobs of one round run alone, one after the other. */
  readonly alone: number;
  /** Jobs a second of a phase in which jobs start at this rate; 0 for no such phase. */
  readonly rate: number;
  /** Items of a batch over forks; 0 for no batch. */
  readonly items: number;
  readonly rounds: number;
  readonly delays: Delays;
  readonly inFile: boolean;
  /** True for faults in place of the cost. */
  readonly faults: boolean;
  /** Part of the names of the faults to measure; empty for all. */
  readonly faultName: string;
  readonly faultJobs: number;
  /** When a job counts as lost that has not ended. */
  readonly faultSeconds: number;
  /** True to print where the time of a job goes. */
  readonly trace: boolean;
  readonly outFile: string;
}

export const usage = `npm run bench:peers -- [options]
  --quick              about a minute for two peers: 5 jobs alone, 100 at once, 2 rounds
  --peers LIST         of ${allPeers.map(({ name }) => name).join(',')} (default all)
  --jobs LIST          jobs at once (default 100)
  --alone N            jobs that run alone, in each round (default 10; quick 5)
  --rate N             also start N jobs a second for five seconds (default 5; quick 0; 0 for none)
  --items N            items of a batch over forks, 50 at once (default 200; quick 0; 0 for none)
  --rounds N           rounds, in which peers take turns (default 4; quick 2)
  --boot MS --prompt MS --archive MS
                       what the service takes for each step (default 300, 300, 200)
  --answer MS          from the acceptance of a call to its answer (default 0; with --faults 100, so that a crash meets calls
                       under way)
  --trace              also print where the time of a job goes
  --faults             measure faults in place of the cost
  --fault TEXT         only the faults whose names contain this, such as "kill -9"
  --fault-jobs N       jobs of each peer for each fault (default 20)
  --fault-seconds N    a job is lost that has not ended then (default 90)
  --file               Temporal keeps its state in a file
  --out FILE           where the numbers go as JSON (default bench/.out/peers.json)
`;

/** @throws TypeError for an unknown flag, RangeError for an invalid value */
export function readOptions(args: readonly string[]): PeerOptions | 'help' {
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: 'boolean', default: false },
      peers: { type: 'string' },
      jobs: { type: 'string', default: '100' },
      alone: { type: 'string' },
      rate: { type: 'string' },
      items: { type: 'string' },
      rounds: { type: 'string' },
      boot: { type: 'string', default: '300' },
      prompt: { type: 'string', default: '300' },
      archive: { type: 'string', default: '200' },
      answer: { type: 'string' },
      trace: { type: 'boolean', default: false },
      faults: { type: 'boolean', default: false },
      fault: { type: 'string', default: '' },
      'fault-jobs': { type: 'string', default: '20' },
      'fault-seconds': { type: 'string', default: '90' },
      file: { type: 'boolean', default: false },
      out: { type: 'string', default: 'bench/.out/peers.json' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return 'help';
  const { quick } = values;
  const names = values.peers?.split(',') ?? allPeers.map(({ name }) => name);
  const unknown = names.find((name) => !allPeers.some((peer) => peer.name === name));
  if (unknown !== undefined) throw new RangeError(`--peers: there is no peer "${unknown}".`);
  return {
    peers: allPeers.filter(({ name }) => names.includes(name)),
    jobs: values.jobs.split(',').map((text) => number('--jobs', text)),
    alone: number('--alone', values.alone ?? (quick ? '5' : '10')),
    rate: number('--rate', values.rate ?? (quick ? '0' : '5')),
    items: number('--items', values.items ?? (quick ? '0' : '200')),
    rounds: number('--rounds', values.rounds ?? (quick ? '2' : '4')),
    delays: {
      bootMs: number('--boot', values.boot),
      promptMs: number('--prompt', values.prompt),
      archiveMs: number('--archive', values.archive),
      answerMs: number('--answer', values.answer ?? (values.faults ? '100' : '0')),
    },
    inFile: values.file,
    trace: values.trace,
    faults: values.faults,
    faultName: values.fault,
    faultJobs: number('--fault-jobs', values['fault-jobs']),
    faultSeconds: number('--fault-seconds', values['fault-seconds']),
    outFile: values.out,
  };
}

function number(flag: string, text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= 0 && value <= 20_000) return value;
  throw new RangeError(`${flag}: "${text}" is not a whole number from 0 to 20000.`);
}

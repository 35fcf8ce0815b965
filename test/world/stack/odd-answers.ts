/** Faults of answers that only a world with several jobs can have. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Answer, give, readJson, type Striker } from '../../slow/matrix/faults/fault-proxy.js';
import { madeId } from './stale-reads.js';

/** Answers of the service to other calls, which a router or a cache may give to the wrong caller. */
export interface OtherAnswers {
  /** The newest answer to the same endpoint about another sandbox. */
  of(endpoint: string, sandboxId: string | null): Answer | undefined;
}

/** Longer than a worker may be silent, and shorter than a call may last, in ms. */
const slowMs = 14_000;

export function oddFaults(others: OtherAnswers): ReadonlyMap<string, Striker> {
  const faults: readonly Striker[] = [
    {
      name: 'misrouted',
      async strike({ forward, response, call }) {
        const own = await forward();
        give(response, (own.status < 400 && others.of(call.endpoint, call.sandboxId ?? madeId(own))) || own);
      },
    },
    {
      name: 'slow',
      async strike({ forward, response }) {
        await sleep(slowMs);
        give(response, await forward());
      },
    },
    reworded('unknown-state', (key, value) => (key === 'state' && typeof value === 'string' ? 'defrosting' : value)),
    // A stop that is open says so: only its end has an unknown name.
    reworded('unknown-stop', (key, value) => (key === 'status' && value === 'completed' ? 'fulfilled' : value), isStop),
  ];
  return new Map(faults.map((fault) => [fault.name, fault]));
}

type Reword = (key: string, value: unknown) => unknown;

/** A later version of the service uses words that the specification does not list. */
function reworded(name: string, reword: Reword, isMeant: (object: object) => boolean = () => true): Striker {
  const read = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(read);
    if (typeof value !== 'object' || value === null) return value;
    const isOne = isMeant(value);
    return Object.fromEntries(
      Object.entries(value).map(([key, field]) => [
        key,
        typeof field === 'object' ? read(field) : isOne ? reword(key, field) : field,
      ]),
    );
  };
  return {
    name,
    async strike({ forward, response }) {
      const answer = await forward();
      const json = readJson(answer.body);
      if (answer.status >= 400 || json === undefined) return give(response, answer);
      give(response, { ...answer, body: Buffer.from(JSON.stringify(read(json))) });
    },
  };
}

const isStop = (object: object) => 'id' in object && String(object.id).startsWith('stop_');

/** What a job costs Temporal at least: as many workflow tasks, with signals and trivial activities and nothing else. */
import { condition, defineSignal, proxyActivities, setHandler } from '@temporalio/workflow';

export interface BareInput {
  /** Activities in all, at least two. Workflow tasks: one more, and one for each of the two signals. */
  readonly activities: number;
  /** How long after the activity before it each of the two signals is sent, in ms. */
  readonly pausesMs: readonly [number, number];
}

export interface StepInput {
  /** When the signal was sent that this step follows; null where it follows none. */
  readonly sentAtMs: number | null;
  /** Asks for the next signal. */
  readonly thenSignalAfterMs: number | null;
}

export const pokeSignal = defineSignal<[number]>('poke');

const { step } = proxyActivities<{ step(input: StepInput): Promise<number | null> }>({
  startToCloseTimeout: '1 minute',
  heartbeatTimeout: '10 seconds',
});

/** @returns from the first signal sent to the first line of the activity after it, in ms */
export async function bare({ activities, pausesMs }: BareInput): Promise<number | null> {
  const pokesMs: number[] = [];
  setHandler(pokeSignal, (sentAtMs) => void pokesMs.push(sentAtMs));
  await step({ sentAtMs: null, thenSignalAfterMs: pausesMs[0] });
  await condition(() => pokesMs.length >= 1);
  let lagMs: number | null = null;
  for (let done = 1; done < activities; done += 1) {
    const sentAtMs = done === 1 ? (pokesMs[0] ?? null) : null;
    const thenSignalAfterMs = done === activities - 1 ? pausesMs[1] : null;
    lagMs = (await step({ sentAtMs, thenSignalAfterMs })) ?? lagMs;
  }
  await condition(() => pokesMs.length >= 2);
  return lagMs;
}

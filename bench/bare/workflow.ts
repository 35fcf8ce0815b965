/**
 * Measures the least that a job costs Temporal: the same number of workflow tasks, with only signals and trivial
 * activities.
 */
import { condition, defineSignal, proxyActivities, setHandler } from '@temporalio/workflow';

export interface BareInput {
  /**
   * The number of activities, at least two. They take one more workflow task, and each of the two signals takes
   * another.
   */
  readonly activities: number;
  /** How long each of the two signals is sent after the preceding activity, in ms. */
  readonly pausesMs: readonly [number, number];
}

export interface StepInput {
  /** When the signal before this step was sent, in ms since the epoch; null if no signal came before it. */
  readonly sentAtMs: number | null;
  /** Requests the next signal after this many ms; null requests none. */
  readonly thenSignalAfterMs: number | null;
}

export const pokeSignal = defineSignal<[number]>('poke');

const { step } = proxyActivities<{ step(input: StepInput): Promise<number | null> }>({
  startToCloseTimeout: '1 minute',
  heartbeatTimeout: '10 seconds',
});

/** @returns the time from sending the first signal to the first line of the next activity, in ms */
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

/** A workflow that never returns, and one that waits meanwhile. */
import { condition, defineSignal, setHandler } from '@temporalio/workflow';

export const goOn = defineSignal('goOn');

export async function spin(): Promise<void> {
  for (;;);
}

export async function waits(): Promise<string> {
  let mayGoOn = false;
  setHandler(goOn, () => {
    mayGoOn = true;
  });
  await condition(() => mayGoOn);
  return 'went on';
}

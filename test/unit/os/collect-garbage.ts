/** Forces garbage collections, for what only weak references hold. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Collects twice. Each time in a turn of its own, because a weak reference holds its target until the turn ends. */
export async function collectGarbage(): Promise<void> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  for (let time = 0; time < 2; time += 1) {
    await nextTurn();
    collect();
  }
}

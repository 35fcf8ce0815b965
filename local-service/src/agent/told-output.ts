/**
 * Tells the output of a command while the command runs. An output of any length is told in few and short pieces.
 */
import { maxPieceCharacters, maxResultBytes } from './output/output-text.js';

/** A command that prints for hours is told less and less often: the pause is a hundredth of the time it has printed. */
const shortestPauseMs = 2_000;
const pausesPerTime = 100;

export interface ToldOutput {
  /** Takes the next output. Its whole lines are told after a pause. */
  readonly push: (text: string) => void;
  readonly stop: () => void;
  /** Where the part of the whole output begins that was not told, in characters. */
  endIn(whole: string): number;
}

/**
 * @param before what an interrupted run of the same command told. As long as the lines are the same, they are not told
 * again
 * @param tell gets a piece, and where it begins in the output, in characters
 */
export function createToldOutput(before: string, tell: (text: string, from: number) => void): ToldOutput {
  let [heard, told] = ['', 0];
  let firstMs: number | undefined;
  let timer: NodeJS.Timeout | undefined;

  const endIn = (output: string): number => Math.max(told, sameUpTo(output, before));
  const schedule = (): void => {
    if (timer !== undefined || pieceEnd(heard, endIn(heard)) === undefined) return;
    firstMs ??= performance.now();
    const pauseMs = Math.max(shortestPauseMs, (performance.now() - firstMs) / pausesPerTime);
    timer = setTimeout(next, pauseMs);
  };
  const next = (): void => {
    timer = undefined;
    const from = endIn(heard);
    const end = pieceEnd(heard, from);
    if (end === undefined) return;
    tell(heard.slice(from, end), from);
    told = end;
    schedule();
  };

  return {
    push(text) {
      // An answer holds no more than this either.
      if (heard.length >= maxResultBytes) return;
      heard += text;
      schedule();
    },
    stop: () => clearTimeout(timer),
    endIn,
  };
}

/** The end of the next piece: that of a line, or of a part of a line that is longer than a piece. */
function pieceEnd(output: string, from: number): number | undefined {
  const longest = from + maxPieceCharacters;
  const lineEnd = output.lastIndexOf('\n', longest - 1) + 1;
  if (lineEnd > from) return lineEnd;
  if (output.length <= longest) return undefined;
  return /^[\uD800-\uDBFF]/.test(output.charAt(longest - 1)) ? longest - 1 : longest;
}

/** The end of the last line up to which two texts are the same. */
function sameUpTo(output: string, before: string): number {
  if (output.startsWith(before)) return before.length;
  for (let at = 0; ; ) {
    const end = output.indexOf('\n', at) + 1;
    if (end === 0 || !before.startsWith(output.slice(at, end), at)) return at;
    at = end;
  }
}

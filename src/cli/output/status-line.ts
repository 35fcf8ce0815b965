/** One line at the bottom of a terminal that is redrawn, with other lines scrolling above. */
import type { OutputStream } from '../io.js';
import { control } from './terminal.js';
import { oneLine } from './terminal-safe.js';

const redrawMs = 1_000;
const clearLine = control('\u001b[1G\u001b[2K');

export interface StatusLine {
  readonly enabled: boolean;
  show(text: () => string): void;
  printAbove(text: string): void;
  close(): void;
}

export function createStatusLine(stream: OutputStream, options: { readonly enabled: boolean }): StatusLine {
  const { enabled } = options;
  let current: (() => string) | undefined;
  let timer: NodeJS.Timeout | undefined;

  const clear = () => {
    if (enabled && current) stream.write(clearLine);
  };
  const draw = () => {
    if (!enabled || !current) return;
    const width = Math.max(20, stream.columns || 80) - 1;
    const text = oneLine(current());
    stream.write(clearLine + (text.length > width ? `${text.slice(0, width - 1)}…` : text));
  };

  return {
    enabled,
    show(text) {
      if (!enabled) return;
      current = text;
      draw();
      timer ??= setInterval(draw, redrawMs).unref();
    },
    printAbove(text) {
      clear();
      stream.write(text);
      draw();
    },
    close() {
      clear();
      current = undefined;
      clearInterval(timer);
      timer = undefined;
    },
  };
}

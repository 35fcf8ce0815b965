/** Colours, where the stream is a terminal that wants them. */
import { styleText } from 'node:util';
import type { OutputStream } from '../io.js';
import { control } from './terminal.js';

type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan';
export type Paint = (style: Style, text: string) => string;

/** A terminal's `hasColors` knows NO_COLOR and FORCE_COLOR; everything else gets plain text. */
export function createPaint(stream: OutputStream): Paint {
  const colours = stream.isTTY === true && stream.hasColors?.() === true;
  return (style, text) =>
    colours ? control(styleText(style, text.replaceAll('\u001b', '\ufffd'), { validateStream: false })) : text;
}

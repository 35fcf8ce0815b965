import { type ItemFormat, type ItemWish, type ReadItemsOptions, readItems } from '../../../src/fanout/index.js';
import { headOf } from '../../../src/protocol/stored-text.js';

/** Chunks of a few bytes, so that every boundary occurs. */
async function* inPieces(text: string | Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  for (let from = 0; from < bytes.length; from += size) yield bytes.subarray(from, from + size);
}

export interface Reading extends Partial<Omit<ReadItemsOptions, 'parseDurationMs'>> {
  readonly format?: ItemFormat;
  readonly pieceBytes?: number;
}

/** Reads the items of one file named `f`. */
export async function read(content: string | Uint8Array, reading: Reading = {}): Promise<ItemWish[]> {
  const { format = 'text', pieceBytes = 65_536, templates = [], matrix, repositoryUrl } = reading;
  const source = { file: 'f', format, guessed: false, open: () => inPieces(content, pieceBytes) };
  const items: ItemWish[] = [];
  for await (const item of readItems([source], {
    templates,
    matrix: matrix ?? { providers: [], models: [], efforts: [], repeats: 1 },
    ...(repositoryUrl !== undefined && { repositoryUrl }),
    parseDurationMs: (text) => {
      if (!/^\d+m$/.test(text)) throw new Error(`deadline: "${text}" is not a duration.`);
      return Number.parseInt(text, 10) * 60_000;
    },
  })) {
    items.push(item);
  }
  return items;
}

/** The first prompt of each item. */
export async function prompts(content: string, reading: Reading = {}): Promise<(string | undefined)[]> {
  return (await read(content, reading)).map(
    (item) => item.prompts[0] && headOf(item.prompts[0].prompt, content.length + 1),
  );
}

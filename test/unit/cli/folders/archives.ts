/** Archives of every kind, good and evil. */
import { gzipSync } from 'node:zlib';
import { Header } from 'tar';

export interface Entry {
  readonly path: string;
  readonly type?:
    | 'File'
    | 'Directory'
    | 'SymbolicLink'
    | 'Link'
    | 'CharacterDevice'
    | 'BlockDevice'
    | 'FIFO'
    | 'ExtendedHeader';
  readonly linkpath?: string;
  readonly mode?: number;
  readonly content?: string;
  /** What the header says, whatever the content is. */
  readonly size?: number;
}

export function tarOf(...entries: readonly Entry[]): Buffer {
  const blocks = entries.flatMap(({ content = '', type = 'File', mode = 0o644, ...entry }) => {
    const bytes = Buffer.from(content);
    const block = Buffer.alloc(512);
    new Header({ size: bytes.length, type, mode, ...entry }).encode(block);
    return [block, bytes, Buffer.alloc((512 - (bytes.length % 512)) % 512)];
  });
  return Buffer.concat([...blocks, Buffer.alloc(1024)]);
}

export const archiveOf = (...entries: readonly Entry[]): Buffer => gzipSync(tarOf(...entries));

export async function* pieces(content: Buffer, size = 65_536): AsyncGenerator<Buffer> {
  for (let at = 0; at < content.length; at += size) yield content.subarray(at, at + size);
}

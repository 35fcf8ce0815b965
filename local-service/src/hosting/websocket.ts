/**
 * A WebSocket that carries a stream of bytes (RFC 6455). The borders of messages do not matter, so each frame is handled
 * by itself.
 */
import { createHash } from 'node:crypto';
import { type Duplex, pipeline, Transform } from 'node:stream';

const keySuffix = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
const maxPayloadBytes = 1024 * 1024;
const maxControlBytes = 125;
const opcodes = { binary: 2, close: 8, ping: 9, pong: 10 };

/** Headers that accept an upgrade. */
export function acceptHeaders(key: string, protocols = ''): string[] {
  const accept = createHash('sha1').update(`${key}${keySuffix}`).digest('base64');
  // Older viewers insist on this name.
  const named = protocols.split(/, */).includes('binary') ? ['Sec-WebSocket-Protocol', 'binary'] : [];
  return ['Upgrade', 'websocket', 'Connection', 'Upgrade', 'Sec-WebSocket-Accept', accept, ...named];
}

/** Joins a caller, whose upgrade was accepted, with a plain connection, until either ends. */
export function joinWebSocket(caller: Duplex, plain: Duplex): void {
  const end = (): void => {
    caller.destroy();
    plain.destroy();
  };
  const decoder = decode((opcode, payload) => {
    // A caller that reads no answers must not make them pile up.
    if (opcode === opcodes.ping && !caller.writableNeedDrain) caller.write(frame(opcodes.pong, payload));
    if (opcode === opcodes.close) caller.end(frame(opcodes.close, payload));
  });
  const encoder = new Transform({ transform: (chunk, _, done) => done(null, frame(opcodes.binary, chunk)) });
  pipeline(caller, decoder, plain, end);
  pipeline(plain, encoder, caller, end);
}

/** @param onControl gets the opcode and the payload of control frames */
function decode(onControl: (opcode: number, payload: Buffer) => void): Transform {
  let rest = Buffer.alloc(0);
  return new Transform({
    transform(chunk: Buffer, _, done) {
      rest = Buffer.concat([rest, chunk]);
      for (;;) {
        const read = readFrame(rest);
        if (read === undefined) return done();
        if (read === 'bad') return done(new Error('The caller sent a bad frame.'));
        rest = rest.subarray(read.length);
        if (read.opcode >= opcodes.close) onControl(read.opcode, read.payload);
        else this.push(read.payload);
      }
    },
  });
}

interface Frame {
  readonly opcode: number;
  readonly payload: Buffer;
  /** Of the whole frame, in bytes. */
  readonly length: number;
}

/** The first frame; undefined if it is not complete. */
function readFrame(bytes: Buffer): Frame | 'bad' | undefined {
  if (bytes.length < 2) return undefined;
  const [first = 0, second = 0] = bytes;
  // What a client sends is always masked.
  if ((second & 0x80) === 0) return 'bad';
  const short = second & 0x7f;
  const lengthBytes = short === 127 ? 8 : short === 126 ? 2 : 0;
  const start = 2 + lengthBytes + 4;
  if (bytes.length < start) return undefined;
  const size = lengthBytes === 8 ? Number(bytes.readBigUInt64BE(2)) : lengthBytes === 2 ? bytes.readUInt16BE(2) : short;
  const opcode = first & 0x0f;
  if (size > (opcode < opcodes.close ? maxPayloadBytes : maxControlBytes)) return 'bad';
  if (bytes.length < start + size) return undefined;
  const mask = bytes.subarray(start - 4, start);
  const payload = Buffer.from(bytes.subarray(start, start + size));
  for (let at = 0; at < size; at += 1) payload[at] = (payload[at] ?? 0) ^ (mask[at % 4] ?? 0);
  return { opcode, payload, length: start + size };
}

function frame(opcode: number, payload: Buffer): Buffer {
  const header = Buffer.alloc(payload.length < 126 ? 2 : payload.length < 65_536 ? 4 : 10);
  header[0] = 0x80 | opcode;
  if (header.length === 2) header[1] = payload.length;
  else if (header.length === 4) {
    header[1] = 126;
    header.writeUInt16BE(payload.length, 2);
  } else {
    header[1] = 127;
    header.writeBigUInt64BE(BigInt(payload.length), 2);
  }
  return Buffer.concat([header, payload]);
}

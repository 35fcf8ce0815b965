/** Answers every query for an IPv4 address with one address (RFC 1035). */
import { createSocket } from 'node:dgram';
import { onTestFinished } from 'vitest';

const headerBytes = 12;
const addressRecordType = 1;

export async function openResolver(at: string, answer: string): Promise<void> {
  const socket = createSocket('udp4');
  socket.on('message', (query, { port, address }) => socket.send(answerTo(query, answer), port, address));
  await new Promise<void>((resolve, reject) => {
    socket.once('error', reject);
    socket.bind(53, at, () => resolve());
  });
  onTestFinished(() => void socket.close());
}

function answerTo(query: Buffer, address: string): Buffer {
  const questionEnd = query.indexOf(0, headerBytes) + 5;
  const isForAddress = query.readUInt16BE(questionEnd - 4) === addressRecordType;
  const header = Buffer.from(query.subarray(0, headerBytes));
  header.writeUInt16BE(0x8180, 2);
  header.writeUInt16BE(isForAddress ? 1 : 0, 6);
  header.writeUInt32BE(0, 8);
  // A pointer to the queried name, IN, 60 s, four bytes.
  const fixed = Buffer.from([
    0xc0,
    headerBytes,
    0,
    addressRecordType,
    0,
    1,
    0,
    0,
    0,
    60,
    0,
    4,
    ...address.split('.').map(Number),
  ]);
  return Buffer.concat([header, query.subarray(headerBytes, questionEnd), ...(isForAddress ? [fixed] : [])]);
}

/**
 * What commands may not ask of the kernel, as a filter of system calls (seccomp): what no namespace holds back. Keyrings are
 * those of the service's session. Sockets of some families, such as those between virtual machines, lead out of every network
 * namespace. And whoever traces the first process of a sandbox, which is bubblewrap, can untie it from the service.
 */
const LOAD = 0x20;
const JUMP_IF_EQUAL = 0x15;
const JUMP_IF_AT_LEAST = 0x35;
const RETURN = 0x06;

const ALLOW = 0x7fff_0000;
const refuse = (errno: number): number => 0x0005_0000 | errno;
const [EPERM, ENOSYS, EAFNOSUPPORT] = [1, 38, 97];

/** Where a filter finds the call; of an argument its low half, which is all that these calls look at. */
const [CALL_AT, ARCHITECTURE_AT, FIRST_ARGUMENT_AT, ARGUMENT_BYTES] = [0, 4, 16, 8];
const FIRST_PROCESS = 1;
const [AF_UNIX, AF_INET, AF_INET6, AF_NETLINK] = [1, 2, 10, 16];

interface Architecture {
  /** As the kernel's `audit.h` has it. */
  readonly id: number;
  readonly keyrings: readonly number[];
  readonly socket: number;
  /** Makes sockets too on 32 bits, whose first argument says so. */
  readonly socketCall?: number;
  readonly trace: number;
  readonly writeMemory: number;
  /** From here on calls are those of yet another architecture. */
  readonly end?: number;
}

const X86_64: Architecture = {
  id: 0xc000_003e,
  keyrings: [248, 249, 250],
  socket: 41,
  trace: 101,
  writeMemory: 311,
  end: 0x4000_0000,
};
const I386: Architecture = {
  id: 0x4000_0003,
  keyrings: [286, 287, 288],
  socket: 359,
  socketCall: 102,
  trace: 26,
  writeMemory: 348,
};
const AARCH64: Architecture = {
  id: 0xc000_00b7,
  keyrings: [217, 218, 219],
  socket: 198,
  trace: 117,
  writeMemory: 271,
};
/** The same everywhere. It makes sockets behind the back of a filter. */
const IO_URING = [425, 426, 427];

const known: Readonly<Record<string, readonly Architecture[]>> = { x64: [X86_64, I386], arm64: [AARCH64] };

/** The filter as bubblewrap takes it; undefined for an architecture whose calls are not known here. */
export function systemCallFilter(architecture: string = process.arch): Buffer | undefined {
  const parts = known[architecture];
  if (parts === undefined) return undefined;
  const program = [instruction(LOAD, ARCHITECTURE_AT)];
  for (const part of parts) {
    const calls = callsOf(part);
    program.push(instruction(JUMP_IF_EQUAL, part.id, 0, calls.length), ...calls);
  }
  program.push(instruction(RETURN, refuse(ENOSYS)));
  return Buffer.concat(program);
}

function callsOf({ keyrings, socket, socketCall, trace, writeMemory, end }: Architecture): Buffer[] {
  return [
    instruction(LOAD, CALL_AT),
    ...(end === undefined ? [] : [instruction(JUMP_IF_AT_LEAST, end, 0, 1), instruction(RETURN, refuse(ENOSYS))]),
    ...[...keyrings, ...IO_URING].flatMap((call) => onCall(call, [instruction(RETURN, refuse(ENOSYS))])),
    ...onCall(trace, refuseArgument(1, FIRST_PROCESS, EPERM)),
    ...onCall(writeMemory, refuseArgument(0, FIRST_PROCESS, EPERM)),
    ...(socketCall === undefined ? [] : onCall(socketCall, refuseArgument(0, 1, ENOSYS))),
    ...onCall(socket, [
      loadArgument(0),
      ...[AF_UNIX, AF_INET, AF_INET6, AF_NETLINK].flatMap((family) => onCall(family, [instruction(RETURN, ALLOW)])),
      instruction(RETURN, refuse(EAFNOSUPPORT)),
    ]),
    instruction(RETURN, ALLOW),
  ];
}

/** Goes on behind `then` where what was loaded is something else. */
function onCall(value: number, then: readonly Buffer[]): Buffer[] {
  return [instruction(JUMP_IF_EQUAL, value, 0, then.length), ...then];
}

function refuseArgument(index: number, value: number, errno: number): Buffer[] {
  return [loadArgument(index), ...onCall(value, [instruction(RETURN, refuse(errno))]), instruction(RETURN, ALLOW)];
}

function loadArgument(index: number): Buffer {
  return instruction(LOAD, FIRST_ARGUMENT_AT + index * ARGUMENT_BYTES);
}

/** One of the kernel's, in the byte order of both architectures. */
function instruction(code: number, value: number, ifTrue = 0, ifFalse = 0): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt16LE(code, 0);
  bytes.writeUInt8(ifTrue, 2);
  bytes.writeUInt8(ifFalse, 3);
  bytes.writeUInt32LE(value, 4);
  return bytes;
}

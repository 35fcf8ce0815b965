/**
 * The filter of system calls (seccomp) for commands. It refuses four things that no namespace isolates. The first is
 * the keyrings of the service's session. The second is sockets of families that cross network namespaces, such as
 * sockets between virtual machines. The third is tracing the first process of a sandbox: it is bubblewrap, and a tracer
 * could detach it from the service. The fourth is taking descriptors of other processes.
 */
const loadWord = 0x20;
const jumpIfEqual = 0x15;
const jumpIfAtLeast = 0x35;
const returnCode = 0x06;

const allowCall = 0x7fff_0000;
const refuse = (errno: number): number => 0x0005_0000 | errno;
const errorNumbers = { EPERM: 1, ENOSYS: 38, EAFNOSUPPORT: 97 };

/**
 * Offsets in the filter's input. Only the low half of an argument is read, because these calls ignore the high half.
 */
const [callAt, architectureAt, firstArgumentAt, argumentBytes] = [0, 4, 16, 8];
const firstProcess = 1;
/** `AF_UNIX`, `AF_INET`, `AF_INET6`, `AF_NETLINK`. */
const allowedFamilies = [1, 2, 10, 16];

interface Architecture {
  /** From the kernel's `audit.h`. */
  readonly id: number;
  readonly keyrings: readonly number[];
  readonly socket: number;
  /** `socketcall`, only on 32 bits. It creates a socket too if its first argument is 1. */
  readonly socketCall?: number;
  readonly trace: number;
  readonly writeMemory: number;
  /** The first call number of another architecture. */
  readonly end?: number;
}

const x8664: Architecture = {
  id: 0xc000_003e,
  keyrings: [248, 249, 250],
  socket: 41,
  trace: 101,
  writeMemory: 311,
  end: 0x4000_0000,
};
const i386: Architecture = {
  id: 0x4000_0003,
  keyrings: [286, 287, 288],
  socket: 359,
  socketCall: 102,
  trace: 26,
  writeMemory: 348,
};
const aarch64: Architecture = {
  id: 0xc000_00b7,
  keyrings: [217, 218, 219],
  socket: 198,
  trace: 117,
  writeMemory: 271,
};
/**
 * These calls have the same numbers on every architecture. `io_uring` can create sockets without passing the filter.
 * `pidfd_getfd` takes descriptors of other processes, such as those through which the service starts commands.
 */
const refusedEverywhere = [425, 426, 427, 438];

const known: Readonly<Record<string, readonly Architecture[]>> = { x64: [x8664, i386], arm64: [aarch64] };

/** The filter in the format of bubblewrap; undefined for an architecture with unknown call numbers. */
export function systemCallFilter(architecture: string = process.arch): Buffer | undefined {
  const parts = known[architecture];
  if (parts === undefined) return undefined;
  const program = [instruction(loadWord, architectureAt)];
  for (const part of parts) {
    const calls = callsOf(part);
    program.push(instruction(jumpIfEqual, part.id, 0, calls.length), ...calls);
  }
  program.push(instruction(returnCode, refuse(errorNumbers.ENOSYS)));
  return Buffer.concat(program);
}

function callsOf({ keyrings, socket, socketCall, trace, writeMemory, end }: Architecture): Buffer[] {
  return [
    instruction(loadWord, callAt),
    ...(end === undefined
      ? []
      : [instruction(jumpIfAtLeast, end, 0, 1), instruction(returnCode, refuse(errorNumbers.ENOSYS))]),
    ...[...keyrings, ...refusedEverywhere].flatMap((call) =>
      onCall(call, [instruction(returnCode, refuse(errorNumbers.ENOSYS))]),
    ),
    ...onCall(trace, refuseArgument(1, firstProcess, errorNumbers.EPERM)),
    ...onCall(writeMemory, refuseArgument(0, firstProcess, errorNumbers.EPERM)),
    ...(socketCall === undefined ? [] : onCall(socketCall, refuseArgument(0, 1, errorNumbers.ENOSYS))),
    ...onCall(socket, [
      loadArgument(0),
      ...allowedFamilies.flatMap((family) => onCall(family, [instruction(returnCode, allowCall)])),
      instruction(returnCode, refuse(errorNumbers.EAFNOSUPPORT)),
    ]),
    instruction(returnCode, allowCall),
  ];
}

/** Skips `then` unless the loaded value is `value`. */
function onCall(value: number, then: readonly Buffer[]): Buffer[] {
  return [instruction(jumpIfEqual, value, 0, then.length), ...then];
}

function refuseArgument(index: number, value: number, errno: number): Buffer[] {
  return [
    loadArgument(index),
    ...onCall(value, [instruction(returnCode, refuse(errno))]),
    instruction(returnCode, allowCall),
  ];
}

function loadArgument(index: number): Buffer {
  return instruction(loadWord, firstArgumentAt + index * argumentBytes);
}

/** A kernel instruction (`sock_filter`), little-endian. */
function instruction(code: number, value: number, ifTrue = 0, ifFalse = 0): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt16LE(code, 0);
  bytes.writeUInt8(ifTrue, 2);
  bytes.writeUInt8(ifFalse, 3);
  bytes.writeUInt32LE(value, 4);
  return bytes;
}

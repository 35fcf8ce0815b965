/** The networks of all sandboxes. Each is opened for a sandbox that starts, and closed some time after its end. */
import { endedMeanwhile } from '../machine-error.js';
import { type ConnectPort, connectHere, notListening } from './connect-port.js';
import type { NetworkNamespace } from './namespace.js';
import { readOwnNetworks } from './routes.js';

/** How long a network stays open without a running sandbox, which may start again soon. */
const idleMs = 30_000;
/** How often the networks are closed to new addresses of this machine. */
const checkIntervalMs = 2_000;

/** The network of a sandbox: that of this machine, one without any connection, or its own. */
export type NetworkPlace =
  | { readonly kind: 'host' }
  | { readonly kind: 'none' }
  | { readonly kind: 'own'; readonly enter: readonly string[] };

export interface NetworkHold {
  readonly place: NetworkPlace;
  /** Connects this process to a port of the sandbox. @throws MachineError `not_listening` */
  readonly connect: ConnectPort;
  /** True once the network has failed. */
  isBroken(): boolean;
  /** Repeating it changes nothing. */
  release(): void;
}

export interface SandboxNetworks {
  /** True if each sandbox has its own, which this process can enter. */
  readonly areOwn: boolean;
  /**
   * Gives a sandbox its place until `release` is called.
   * @throws MachineError `ended` if the sandbox was ended meanwhile, `network_unavailable` if its network does not
   *   open
   */
  take(sandboxId: string): Promise<NetworkHold>;
  /** Ends the network of one sandbox, or of all. The processes must have ended before. Safe to repeat. */
  end(sandboxId?: string): void;
}

interface OpenNetwork {
  readonly opening: Promise<NetworkNamespace>;
  namespace?: NetworkNamespace;
  users: number;
  ended: boolean;
  idle?: NodeJS.Timeout;
}

/** Puts every command into the same place. */
export function createSamePlace(place: NetworkPlace): SandboxNetworks {
  const connect: ConnectPort = async (port) => {
    if (place.kind === 'none') throw notListening(port);
    return await connectHere(port);
  };
  const hold: NetworkHold = { place, connect, isBroken: () => false, release: () => undefined };
  return { areOwn: false, take: async () => hold, end: () => undefined };
}

interface SandboxNetworksOptions {
  /** A network that is already open, for the first sandbox. */
  readonly spare?: NetworkNamespace;
  readonly log?: (message: string) => void;
}

/** @param open opens a network */
export function createSandboxNetworks(
  open: () => Promise<NetworkNamespace>,
  { spare, log = () => undefined }: SandboxNetworksOptions = {},
): SandboxNetworks {
  let unused = spare;
  const networks = new Map<string, OpenNetwork>();
  let ownNetworks = '';
  let checking: NodeJS.Timeout | undefined;

  const end = (sandboxId: string, network: OpenNetwork): void => {
    network.ended = true;
    clearTimeout(network.idle);
    if (networks.get(sandboxId) === network) networks.delete(sandboxId);
    network.namespace?.close();
    if (networks.size === 0) {
      clearInterval(checking);
      checking = undefined;
    }
  };

  const check = (): void => {
    const own = readOwnNetworks();
    if (own.join() === ownNetworks) return;
    ownNetworks = own.join();
    for (const [sandboxId, network] of networks) {
      // If the routes to this machine cannot be closed, the whole network is closed.
      network.namespace?.closeOwnNetworks(own).catch(() => {
        if (!network.ended)
          log(`The network of sandbox ${sandboxId} could not be cut off from this machine, so it was shut down.`);
        end(sandboxId, network);
      });
    }
  };

  const openOrTake = async (): Promise<NetworkNamespace> => {
    const taken = unused;
    unused = undefined;
    if (!taken || taken.isBroken()) return await open();
    await taken.closeOwnNetworks(readOwnNetworks());
    return taken;
  };

  const start = (sandboxId: string): OpenNetwork => {
    const network: OpenNetwork = { opening: openOrTake(), users: 0, ended: false };
    networks.set(sandboxId, network);
    checking ??= setInterval(check, checkIntervalMs).unref();
    network.opening.then(
      (namespace) => {
        network.namespace = namespace;
        if (network.ended) namespace.close();
        namespace.onBroken(() => {
          if (network.ended) return;
          log(
            `The network of sandbox ${sandboxId} has failed. Its running processes have no network. The next command starts the sandbox again, which ends these processes.`,
          );
        });
      },
      () => end(sandboxId, network),
    );
    return network;
  };

  const found = (sandboxId: string): OpenNetwork => {
    const network = networks.get(sandboxId);
    if (network && !network.namespace?.isBroken()) return network;
    if (network) end(sandboxId, network);
    return start(sandboxId);
  };

  return {
    areOwn: true,
    async take(sandboxId) {
      const network = found(sandboxId);
      network.users += 1;
      clearTimeout(network.idle);
      let held = true;
      const release = (): void => {
        if (!held) return;
        held = false;
        network.users -= 1;
        if (network.users > 0 || network.ended) return;
        network.idle = setTimeout(() => end(sandboxId, network), idleMs).unref();
      };
      try {
        const { enter, connect, isBroken } = await network.opening;
        if (network.ended) throw endedMeanwhile();
        return { place: { kind: 'own', enter }, connect, isBroken, release };
      } catch (error) {
        release();
        throw error;
      }
    },
    end(sandboxId) {
      if (sandboxId === undefined) unused?.close();
      for (const [id, network] of [...networks]) if (sandboxId === undefined || id === sandboxId) end(id, network);
    },
  };
}

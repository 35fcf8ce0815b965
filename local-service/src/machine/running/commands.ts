/** The commands that were started in a running sandbox, by the numbers of their processes inside. */
import type { ProcessEntry } from '../processes/table.js';
import type { InsideEntry } from './inside.js';

/** The first two processes: that of bubblewrap, and the one that starts commands. */
const lastHelper = 2;
const maxSessions = 1_000;

/** @param inside the processes of the sandbox; none once it has ended */
export function createCommands(inside: (table?: readonly ProcessEntry[]) => InsideEntry[]) {
  /** The sessions of the running commands. Undefined until the command has reported its start. */
  const running = new Map<number, number | undefined>();
  /** The ids of commands by their sessions, also after the command itself has ended. */
  const sessions = new Map<number, string | null>();

  const withoutHelpers = (entries: readonly InsideEntry[]): InsideEntry[] => {
    const starter = entries.find(({ inside: { pid } }) => pid === lastHelper)?.pid;
    // A script waits for its command, and leads its session.
    const scripts = new Set(running.values());
    return entries.filter(
      ({ parentPid, inside: { pid } }) => pid > lastHelper && parentPid !== starter && !scripts.has(pid),
    );
  };

  return {
    add: (number: number) => void running.set(number, undefined),
    begun(number: number, session: number, commandId?: string) {
      running.set(number, session);
      sessions.delete(session);
      sessions.set(session, commandId ?? null);
      const [oldest] = sessions.keys();
      if (sessions.size > maxSessions && oldest !== undefined) sessions.delete(oldest);
    },
    remove: (number: number) => void running.delete(number),
    /**
     * All processes but those that start commands and wait for them.
     * @param table the processes of this machine; by default, they are read
     */
    found: (table?: readonly ProcessEntry[]) => withoutHelpers(inside(table)),
    /** The pids of all processes; none if the sandbox only waits for a command. */
    pidsAtWork(table?: readonly ProcessEntry[]): number[] {
      const entries = inside(table);
      // A running command could pass for its script.
      const isIdle = running.size === 0 && withoutHelpers(entries).length === 0;
      return isIdle ? [] : entries.map(({ pid }) => pid);
    },
    /** The id of the command in whose session or group the process or its nearest known ancestor is. */
    commandIdOf(entry: InsideEntry, byPid: ReadonlyMap<number, InsideEntry>): string | null {
      const seen = new Set<number>();
      for (let next: InsideEntry | undefined = entry; next && !seen.has(next.pid); next = byPid.get(next.parentPid)) {
        const { session, processGroup } = next.inside;
        const id = sessions.get(session) ?? sessions.get(processGroup);
        if (id !== undefined) return id;
        seen.add(next.pid);
      }
      return null;
    },
    /** Returns a search for the processes of one command, which remembers those that it found. */
    search(session: number): () => readonly InsideEntry[] {
      const known = new Set<string>();
      return () => {
        const entries = inside();
        const found = new Set<number>();
        for (const entry of entries) {
          const isOurs = entry.inside.session === session || entry.inside.processGroup === session;
          if (isOurs || found.has(entry.parentPid) || known.has(`${entry.pid} ${entry.startTime}`))
            found.add(entry.pid);
        }
        const ours = entries.filter(({ pid }) => found.has(pid));
        for (const { pid, startTime } of ours) known.add(`${pid} ${startTime}`);
        return ours;
      };
    },
  };
}

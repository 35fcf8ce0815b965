/** The commands that were started in a running sandbox, by the numbers of their processes inside. */
import { readCommand } from '../processes/details.js';
import type { ProcessEntry } from '../processes/table.js';
import type { InsideEntry } from './inside.js';

/** The first two processes: that of bubblewrap, and the one that starts commands. */
const lastHelper = 2;
const maxSessions = 1_000;
/** The command line of a script; see `init.ts`. */
const scriptPattern = /^(?:setsid -f )?\/bin\/sh \/run\/machine\/(\d+)\/script$/;

/** @param inside the processes of the sandbox; none once it has ended */
export function createCommands(inside: (table?: readonly ProcessEntry[]) => InsideEntry[]) {
  /** The running commands. Undefined until the command has reported its start. */
  const running = new Map<number, number | undefined>();
  /** The ids of commands by their sessions, also after the command itself has ended. */
  const sessions = new Map<number, string | null>();

  /** A script waits for its command. It is recognised by its text, which only a running command can imitate. */
  const isScript = ({ pid, inside: { session } }: InsideEntry): boolean => {
    const number = Number(scriptPattern.exec(readCommand(pid) ?? '')?.[1]);
    return running.has(number) && [undefined, session].includes(running.get(number));
  };
  const isHelper = (entry: InsideEntry, entries: readonly InsideEntry[]): boolean => {
    if (entry.inside.pid <= lastHelper) return true;
    const parent = entries.find(({ pid }) => pid === entry.parentPid);
    // For a moment, also the one that becomes `setsid`.
    return parent?.inside.pid === lastHelper || isScript(entry);
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
    found(table?: readonly ProcessEntry[]) {
      const entries = inside(table);
      return entries.filter((entry) => !isHelper(entry, entries));
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

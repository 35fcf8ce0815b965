import type { NewAccount, NewTeam } from './accounts/records.js';
import type { AgentOutput } from './agent/index.js';
import type { LocalServiceLimits } from './core/context.js';
import type { LocalModel } from './core/models.js';
import type { DeviationName } from './deviations/deviations.js';
import type { AgentCredentials, RepoHost } from './environments/logins.js';
import type { LocalRepo } from './environments/repos.js';
import type { Log } from './log.js';
import type { NetworkSetting } from './machine/index.js';
import type { LocalServiceTimings } from './timings.js';

interface CommandAgentSettings {
  /** Run by `/bin/sh -c` inside the sandbox; gets the prompt on its standard input. */
  readonly command: string;
  /**
   * What the command prints. `text`: its answer. `claude-code`, `codex` or `opencode`: the JSON lines of that program,
   * which become messages, tools and usage. Default: `text`.
   */
  readonly output?: AgentOutput;
  /**
   * Names of variables and paths of secret files. A prompt to a sandbox that has none of them is refused with
   * `provider_not_configured`. Default: the command needs no login.
   */
  readonly login?: readonly string[];
  /** `plain` lets the agent also run without isolation. Default: the service does not start if the agent would. */
  readonly isolation?: 'plain';
}

/** Options of `createLocalService`. */
export interface LocalServiceOptions {
  /** Directory of the database and the disks; created if missing. Only one service at a time can use it. */
  readonly directory: string;
  /** The key of the first account. It is account-wide and does not expire. `/_local` accepts no other key. */
  readonly apiKey: string;
  /** The port to listen on. Default: 0, any free port. */
  readonly port?: number;
  /** The address to listen on. Default `127.0.0.1`. The service never listens beyond this machine. */
  readonly host?: '127.0.0.1' | '::1';
  /** True enables `/_local/faults`. Default: false, its calls are refused. */
  readonly faultsEnabled?: boolean;
  /** Overrides of the default timings, in ms. Default: none. */
  readonly timings?: Partial<LocalServiceTimings>;
  /** Limits that answer 429 when exceeded. Default: none. */
  readonly limits?: LocalServiceLimits;
  /** Providers whose prompts are run by a command inside the sandbox. */
  readonly commandAgents?: Readonly<Record<string, CommandAgentSettings>>;
  /**
   * Providers that the built-in scripted agent serves. Default: all. A provider without this agent and without a
   * command is not configured.
   */
  readonly scriptedProviders?: readonly string[];
  /**
   * The models of a provider. `GET /provider-models` shows them, and a prompt with another model is refused. Default: two
   * models, and any other is accepted.
   */
  readonly models?: Readonly<Record<string, readonly LocalModel[]>>;
  /** The provider of prompts that do not name a provider. Null: they are refused. Default: `codex`. */
  readonly defaultProvider?: string | null;
  /**
   * Absolute paths of further folders of this machine that sandboxes see at the same place, read-only, such as one with
   * the programs of agents. Default: none.
   */
  readonly programs?: readonly string[];
  /** How sandboxes are isolated. Default: `auto`, bubblewrap if it works. */
  readonly isolation?: 'auto' | 'bubblewrap' | 'plain';
  /** The network of sandboxes. Default: a network of their own, which may reach the internet if slirp4netns works. */
  readonly network?: NetworkSetting;
  /** True refuses loopback webhook URLs too, as the real service does (trap S9). Default: false. */
  readonly strictWebhookUrls?: boolean;
  /** Resolves the host of a webhook. Default: the system's resolver. */
  readonly resolveWebhookHost?: (hostname: string) => Promise<readonly string[]>;
  /** The most calls that the call book keeps; older calls are dropped. Default: 100,000. */
  readonly maxCallRecords?: number;
  /** How the service does otherwise than `docs/maintainers/assumptions.md` says. Default: not at all. */
  readonly deviations?: readonly DeviationName[];
  /** Accounts in addition to the first, whose id is `acct_local` and whose login is `local`. Default: none. */
  readonly accounts?: readonly NewAccount[];
  /** Organizations and their members. Default: none. */
  readonly teams?: readonly NewTeam[];
  /**
   * Rows of `GET /repos` for accounts without their own. Those with a `cloneUrl` are cloned into new sandboxes. Default:
   * none.
   */
  readonly repos?: readonly LocalRepo[];
  /**
   * The login of the host of repositories, for clones and for sandboxes whose environment has `passRepoHost`. Only the
   * first account has it. The file of the token is read once. Default: none.
   */
  readonly repoHost?: RepoHost;
  /**
   * Provider → variable → the file that holds its value. The prompts of this provider get the variables if the
   * environment of the sandbox has `passAgentsCredentials`. Only the first account has them. The files are read once.
   * Default: none.
   */
  readonly agentCredentials?: AgentCredentials;
  /**
   * Says that the file of these options has changed since it was read, and what to do; undefined if it has not. Asked
   * at each `GET /_local/facts`, and must not throw. Default: there is no such file.
   */
  readonly changedSettings?: () => Promise<string | undefined>;
  /** Receives the log lines. Default: none. */
  readonly log?: Log;
}

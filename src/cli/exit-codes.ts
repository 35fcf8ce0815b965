/** The exit codes of the command line. */
export const exitCodes = {
  /** The job or batch completed and left nothing behind, or the command succeeded. */
  done: 0,
  /** The job or batch ended with another outcome, left something behind, a file is missing, or a check of `doctor` failed. */
  otherOutcome: 1,
  /** Invalid usage or configuration, or the service rejected the key or the account; nothing was started. */
  usage: 2,
  /** Temporal or the service is unreachable, throttles, or returns errors for too long; the job or batch, if any, is not finished. */
  unreachable: 3,
  /** `--watch-deadline` passed; the job or batch is still running. */
  watchDeadline: 4,
  /** An unexpected error: a defect of sandflow. */
  internal: 70,
  /** Detached by Ctrl-C; the job or batch is still running. */
  detached: 130,
} as const;

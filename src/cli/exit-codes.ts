/** The exit codes of the command line. */
export const exitCodes = {
  /** The job or batch completed and left nothing to look after, or the command did what it was asked to. */
  done: 0,
  /** The job or batch has another named outcome, it left something, a file of it is missing, or a check of `doctor` failed. */
  otherOutcome: 1,
  /** Bad usage or configuration, or the service refuses the key or the account; nothing was started. */
  usage: 2,
  /** Temporal or the service cannot be reached, throttles, or answers with errors for too long; the job or batch, if there is one, is not finished. */
  unreachable: 3,
  /** The watch's own deadline passed and the job or batch still runs. */
  watchDeadline: 4,
  /** An error that nobody planned for: a defect of sandflow. */
  internal: 70,
  /** Detached by Ctrl-C; the job or batch goes on. */
  detached: 130,
} as const;

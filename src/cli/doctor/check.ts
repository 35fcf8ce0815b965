/** One finding of `doctor`. */

export interface Check {
  /**
   * What was checked: `temporal`, `workers`, `service`, `key`, `actions`, `clock`, `webhook`, `secret`, `bridge`, `wakes`,
   * `retention`, `account`, `isolation`, `encryption`, `disk`, `results`, `secrets`, `local` or `settings`.
   */
  readonly name: string;
  readonly status: 'ok' | 'warning' | 'failed' | 'skipped';
  readonly message: string;
  /** How to fix it; null if there is nothing to fix. */
  readonly mend: string | null;
}

export const ok = (name: string, message: string): Check => ({ name, status: 'ok', message, mend: null });

const problem =
  (status: Check['status']) =>
  (name: string, message: string, mend: string): Check => ({ name, status, message, mend });

export const warning = problem('warning');
export const failed = problem('failed');

export const skipped = (name: string, message: string): Check => ({ name, status: 'skipped', message, mend: null });

import type { Attempt } from '../../../activities/retry/attempt.js';

const { signal } = new AbortController();

/** The first attempt of an activity, which nobody aborts. */
export const attempt: Attempt = {
  attempt: 1,
  signal,
  call: (make) => make(signal),
  calls: () => 0,
  maybeSent: false,
  followsCrash: false,
  pauseMs: 1,
};

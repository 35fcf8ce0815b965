/** Batches: the one door for the command line and the library. */
export {
  addFanoutChunk,
  cancelFanout,
  describeFanout,
  type FanoutAddress,
  fanoutProgress,
  type StartedFanout,
  type StartFanoutOptions,
  sealFanout,
  startFanout,
} from './client.js';
export { type FanoutSummary, type ListFanoutsOptions, listFanouts } from './list.js';
export { type ResumeFanoutOptions, resumeFanout } from './resume.js';
export {
  type AwaitFanoutOptions,
  awaitFanout,
  type SubmitFanoutOptions,
  submitFanout,
} from './submit.js';

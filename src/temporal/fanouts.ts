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
} from './fanout-client.js';
export { type FanoutSummary, type ListFanoutsOptions, listFanouts } from './fanouts-list.js';
export { type ResumeFanoutOptions, resumeFanout } from './resume-fanout.js';
export {
  type AwaitFanoutOptions,
  awaitFanout,
  type SubmitFanoutOptions,
  submitFanout,
} from './submit-fanout.js';

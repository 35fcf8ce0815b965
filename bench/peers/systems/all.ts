import type { Peer } from '../peer.js';
import { temporalPolling, temporalSignals } from './plain-temporal.js';
import { sandflow, sandflowEncrypted } from './sandflow.js';
import { pollingScript, webhookScript } from './scripts.js';

/** Every peer, in the order of the tables. */
export const allPeers: readonly Peer[] = [
  pollingScript,
  webhookScript,
  temporalPolling,
  temporalSignals,
  sandflow,
  sandflowEncrypted,
];

/** The peer beside which the ratios stand. */
export const referenceName = temporalSignals.name;

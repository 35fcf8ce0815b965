/** The contract of the Sandbox Service: endpoints, records, requests, errors, ids, addresses and webhook events. */
export * from './account-records.js';
export * from './account-requests.js';
export * from './addresses.js';
export * from './assumptions.js';
export * from './endpoints.js';
export * from './error-codes.js';
export * from './ids.js';
export * from './legacy-vocabulary.js';
export * from './machine-records.js';
export * from './records.js';
export * from './requests.js';
export * from './sandbox-view.js';
export * from './sandflow-error.js';
export * from './service-failure.js';
export * from './states.js';
export * from './webhook-events.js';

/** The contract of the Sandbox Service: endpoints, records, requests, errors, ids, addresses and webhook events. */

export * from './addresses.js';
export * from './assumptions.js';
export * from './endpoints/endpoints.js';
export * from './errors/error-codes.js';
export * from './errors/sandflow-error.js';
export * from './errors/service-failure.js';
export * from './ids.js';
export * from './records/account-records.js';
export * from './records/legacy-vocabulary.js';
export * from './records/machine-records.js';
export * from './records/sandbox-records.js';
export * from './records/sandbox-view.js';
export * from './records/states.js';
export * from './records/webhook-events.js';
export * from './requests/account-requests.js';
export * from './requests/sandbox-requests.js';

/** The contract of the Sandbox Service: endpoints, records, requests, errors, ids, addresses of jobs, and webhook events. */

export * from '../addresses/addresses.js';
export * from '../errors/sandflow-error.js';
export * from './assumptions.js';
export * from './endpoints/endpoints.js';
export * from './records/account-records.js';
export * from './records/machine-records.js';
export * from './records/sandbox-records.js';
export * from './records/webhook-events.js';
export * from './requests/account-requests.js';
export * from './requests/sandbox-requests.js';
export * from './workflow-safe/error-codes.js';
export * from './workflow-safe/ids.js';
export { defaultForksPerSecond } from './workflow-safe/limits.js';
export * from './workflow-safe/sandbox-view.js';
export * from './workflow-safe/service-failure.js';
export * from './workflow-safe/states.js';

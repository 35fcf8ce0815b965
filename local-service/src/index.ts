/** The local Sandbox Service, which implements the whole specification on this machine. */

export type { Accounts } from './accounts/accounts.js';
export type { AccountFlags, NewAccount, NewTeam, TeamFlags } from './accounts/records.js';
export type { AccountSetup, NewEnvironment } from './accounts/setup.js';
export type { LocalServiceLimits } from './core/context.js';
export { createLocalService, type LocalService } from './create-local-service.js';
export { type DeviationName, deviationNames } from './deviations/deviations.js';
export type { LocalRepo } from './environments/repos.js';
export type { FaultInput } from './faults/fault-specification.js';
export type { Inspection, InspectionFilter, InspectionSummary } from './inspection.js';
export type { LocalServiceOptions } from './options.js';
export type { AccountRecord, TeamRecord } from './store/account-store.js';
export type { LocalServiceTimings } from './timings.js';

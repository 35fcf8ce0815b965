/** The local Sandbox Service: the whole behaviour of the specification on this machine. */
export type { AccountSetup, NewEnvironment } from './account-setup.js';
export type { Accounts } from './accounts.js';
export type { Books, BooksFilter, BooksSummary } from './books.js';
export { createLocalService, type LocalService } from './create-local-service.js';
export type { AccountFlags, NewAccount, NewTeam, TeamFlags } from './domain/accounts.js';
export type { LocalRepo } from './domain/repos.js';
export type { FaultInput } from './faults/fault-specification.js';
export type { LocalServiceLimits, LocalServiceOptions, LocalServiceProfile } from './options.js';
export type { AccountRecord, TeamRecord } from './store/account-store.js';
export type { LocalServiceTimings } from './timings.js';

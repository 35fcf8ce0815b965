/** The local Sandbox Service: the whole behaviour of the specification on this machine. */
export type { Books, BooksFilter, BooksSummary } from './books.js';
export { createLocalService, type LocalService } from './create-local-service.js';
export type { FaultInput } from './faults/fault-specification.js';
export type { LocalServiceLimits, LocalServiceOptions, LocalServiceProfile } from './options.js';
export type { LocalServiceTimings } from './timings.js';

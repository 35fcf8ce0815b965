/**
 * The same program for a worker. The build packs it without the packages: activities, workflows and the worker must use
 * one copy of Temporal's SDK, and the worker comes with native code.
 */
export * from './start.js';

/**
 * Switches off stack traces in workflow code, unless the worker has the option `workflowStacks`. The SDK formats a stack
 * for every promise that a workflow creates, which was the largest single cost of a job (docs/measurements.md).
 */
import { keepsStacks } from '../../src/protocol/workflow-stacks.js';

// This module runs once in each thread of workflows, before the SDK freezes the global objects.
if (!(keepsStacks in globalThis)) Reflect.deleteProperty(Error, 'stackTraceLimit');

/** Global variable that a worker defines at the start of its workflow bundle if workflow code keeps its stack traces. */
export const keepsStacks = 'sandflowKeepsStacks';

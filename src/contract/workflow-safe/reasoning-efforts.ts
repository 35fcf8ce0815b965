/** No dependencies: workflow code imports this file. */

/** The reasoning levels that the service knows (specification, "Prompts"). A model accepts some of them. */
export const reasoningEfforts = ['none', 'low', 'medium', 'high', 'xhigh', 'max'] as const;

/** The name of the patch that a job collects, in its list of files. Without dependencies. */
export const patchName = 'changes.patch';

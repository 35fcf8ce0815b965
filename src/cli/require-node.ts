/** The first import of the library: an old Node would fail at one of the others, and not say why. */
import { runtimeProblem } from './runtime.js';

const problem = runtimeProblem({ node: process.versions.node });
if (problem !== undefined) throw new Error(problem);

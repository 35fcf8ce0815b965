// Prints the path of a Temporal CLI, or the name of the one on the PATH. If there is none, it is made as for the embedded stack.
import { fileURLToPath, pathToFileURL } from 'node:url';

const built = fileURLToPath(new URL('../dist/src/', import.meta.url));
const [{ readConfig }, { findTemporalServer }] = await Promise.all(
  ['config.js', 'temporal-server/find.js'].map((name) => import(pathToFileURL(built + name).href)),
);
const onProgress = (line) => void process.stderr.write(`${line}\n`);
process.stdout.write(`${await findTemporalServer({ cacheDirectory: readConfig().cacheDirectory, onProgress })}\n`);

/**
 * A small Sandbox Service in memory, as a process. It has only what the peers call, costs little CPU, and takes the
 * same time for each step of each peer.
 */
import { serve } from '../processes/entry.js';
import { listenService } from './service/listen.js';

await serve(listenService);

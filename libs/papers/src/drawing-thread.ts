/** Draws papers, one after the other, off the event loop of whoever serves them: each message is a paper, and one answers it. */
import { parentPort } from 'node:worker_threads';
import { draw } from './draw.js';
import type { Paper } from './paper.js';

parentPort!.on('message', (paper: Paper) => {
  void draw(paper).then(
    (file) => parentPort!.postMessage({ file: new Uint8Array(file) }),
    (error: unknown) => parentPort!.postMessage({ fault: String(error) }),
  );
});

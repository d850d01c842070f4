/** Draws papers, one after the other, off the event loop of whoever serves them: each message is a paper, and one answers it. */
import { parentPort, workerData } from 'node:worker_threads';
import { type Font, openSync } from 'fontkit';
import { draw } from './draw.js';
import type { Paper } from './paper.js';

let warning: string | undefined;
const cjk = fontAt((workerData as { cjkFont: string | null }).cjkFont);

/** A `.ttc` file holds regional variants of one font, of which the first is used. A file that cannot be read leaves papers without these letters. */
function fontAt(path: string | null): Font | null {
  try {
    const opened = path === null ? null : openSync(path);
    return opened && 'fonts' in opened ? opened.fonts[0]! : opened;
  } catch (error) {
    warning = `CJK_FONT cannot be used: ${String(error)}`;
    return null;
  }
}

parentPort!.on('message', (paper: Paper) => {
  void draw(paper, cjk).then(
    (file) => parentPort!.postMessage({ file: new Uint8Array(file), warning }),
    (error: unknown) => parentPort!.postMessage({ fault: String(error), warning }),
  );
});
